"""The `recapture` program: its commands, and one sentence with exit code 2 for errors that a user can correct."""

from __future__ import annotations

import io
import sys
import warnings
from importlib.metadata import entry_points
from typing import Any

import click

from ..checks import shortened
from ..errors import InputError
from ..versions import VERSION
from .baseline import baseline
from .cache import cache
from .compare import compare
from .contexts import contexts
from .correlate import correlate
from .embed import embed
from .inspect import inspect
from .list import list_command
from .merge import merge
from .options import TYPED, discard, flags, say
from .pairs import pairs
from .plan import plan
from .run_share import run_share
from .score import score
from .signals import exit_code, interrupted

_LONGEST_WORD = 300
GROUP = "recapture.commands"
"""Entry points of installed packages that add a command, NAME = "module:click_command"; loaded when it is asked for."""
_ELSEWHERE = {
    "reproduce": (
        "Repeat the papers' experiments (needs recapture-studies).",
        "recapture reproduce is in the package recapture-studies, which is not installed: pip install ./studies in a "
        "clone of recapture",
    )
}
"""Commands of packages that may be absent: what help says of them, and what a call is answered."""


class Commands(click.Group):
    """Own commands, and those of other packages, which are imported only when somebody asks for them."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        ctx.meta[TYPED] = list(args)
        return super().parse_args(ctx, args)

    def list_commands(self, ctx: click.Context) -> list[str]:
        others = {point.name for point in entry_points(group=GROUP)} | set(_ELSEWHERE)
        return sorted({*super().list_commands(ctx), *others})

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        own = super().get_command(ctx, cmd_name)
        if own is not None:
            return own
        for point in entry_points(group=GROUP, name=cmd_name):
            try:
                command = point.load()
            except Exception as error:  # whatever a package half removed or broken does must not take help down, too
                reason = f"recapture {cmd_name} is in {point.value}, which cannot be loaded: {error}"
                return _refusing(cmd_name, "(cannot be loaded)", reason)
            if isinstance(command, click.Command):
                return command
        return _refusing(cmd_name, *_ELSEWHERE[cmd_name]) if cmd_name in _ELSEWHERE else None


def _refusing(name: str, short: str, answer: str) -> click.Command:
    """A command that only says why it is not there."""

    def refuse(given: tuple[str, ...]) -> None:
        raise InputError(answer)

    return click.Command(
        name,
        callback=refuse,
        params=[click.Argument(["given"], nargs=-1, type=click.UNPROCESSED)],
        short_help=short,
        help=answer + ".",
        context_settings={"ignore_unknown_options": True},
    )


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.version_option(VERSION, prog_name="recapture", message="%(prog)s %(version)s")
def app() -> None:
    """Which system writes most like people, how sure is that, and which texts show it?

    \b
    Examples:
      recapture compare -r human.txt -c a.txt -c b.txt --report compared.html
      recapture inspect -r human.txt -c a.txt
      recapture score -r human.txt -c a.txt
      recapture pairs -r refs.txt -c a.txt
      recapture list
      recapture COMMAND --help
    """


for command in (
    *(compare, score, baseline, inspect, pairs, contexts, correlate, embed),
    *(plan, run_share, merge, list_command, cache),
):
    app.add_command(command)


def run(arguments: list[str] | None = None) -> int:
    """Run one command and return its exit code."""
    streams = sys.stdout, sys.stderr
    for stream in streams:
        if isinstance(stream, io.TextIOWrapper):  # a terminal that lacks a character gets a question mark, not an error
            stream.reconfigure(errors="replace")
    try:
        with warnings.catch_warnings():
            warnings.showwarning = _show_warning
            code = app.main(args=arguments, prog_name="recapture", standalone_mode=False)
            sys.stdout.flush()
            return code if isinstance(code, int) else 0  # a command that leaves with a code of its own
    except InputError as error:
        return _refuse(error.message + flags(error.options))
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.format_message(), err=True)
        return 2
    except click.ClickException as error:
        context = getattr(error, "ctx", None)
        hint = f" (see {context.command_path} --help)" if context else ""
        return _refuse(error.format_message().rstrip(".") + hint)
    except (KeyboardInterrupt, click.Abort) as error:
        return _stopped(str(error.__cause__ or error))
    except (BrokenPipeError, SystemExit) as error:
        # The program that read our output has ended, whereupon click changes the streams and leaves; keep Python from
        # complaining when it flushes at exit.
        if isinstance(error, SystemExit) and sys.stdout is streams[0]:
            raise
        sys.stdout, sys.stderr = streams
        discard(sys.stdout)
    except OSError as error:
        if interrupted():
            return _stopped()
        if error.filename is not None:  # not about our output: not an error that one sentence explains
            raise
        discard(sys.stdout)
        return _refuse(f"cannot write the results: {error.strerror or error}")
    except Exception:
        if interrupted():
            return _stopped()
        raise
    return 0


def _show_warning(message: Warning | str, *_: Any, **__: Any) -> None:
    """A library's warning as one of our messages, without the source line that Python would add."""
    say(" ".join(str(message).split()))


def _refuse(message: str) -> int:
    say(" ".join(shortened(word, _LONGEST_WORD) for word in message.split()))  # a number of 5,000 digits
    return 2


def _stopped(reason: str = "") -> int:
    say(f"interrupted; {reason or 'no results were written'}")
    return exit_code()

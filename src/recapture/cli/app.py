"""The `recapture` program: its commands, and one sentence with exit code 2 for whatever a user can mend."""

from __future__ import annotations

import os
import sys

import click

from .. import __version__
from ..errors import InputError
from .cache import cache
from .embed import embed
from .list import list_command
from .score import score


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.version_option(__version__, prog_name="recapture", message="%(prog)s %(version)s")
def app() -> None:
    """How close is a set of generated texts to a set of human ones?

    \b
    Examples:
      recapture score --reference human.txt --candidate model.txt
      recapture list
      recapture COMMAND --help
    """


for command in (score, embed, list_command, cache):
    app.add_command(command)


def main(arguments: list[str] | None = None) -> None:
    """Run the program and leave with its exit code."""
    sys.exit(run(arguments))


def run(arguments: list[str] | None = None) -> int:
    try:
        app.main(args=arguments, prog_name="recapture", standalone_mode=False)
        sys.stdout.flush()
    except InputError as error:
        return _refuse(str(error))
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.format_message(), err=True)
        return 2
    except click.ClickException as error:
        context = getattr(error, "ctx", None)
        hint = f" (see {context.command_path} --help)" if context else ""
        return _refuse(error.format_message().rstrip(".") + hint)
    except (KeyboardInterrupt, click.Abort):
        click.echo("recapture: interrupted; nothing was written", err=True)
        return 130
    except BrokenPipeError:
        # Whoever read our output has left; keep Python from complaining when it flushes at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0


def _refuse(message: str) -> int:
    click.echo("recapture: " + " ".join(message.split()), err=True)
    return 2

"""What several commands share: options, the files that they name, and how results reach the user."""

from __future__ import annotations

import contextlib
import glob
import io
import json
import math
import os
import shlex
import shutil
import stat
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ..checks import seconds_of, shortened, typed_number
from ..errors import InputError, nearest_names, visible
from ..texts.reading import format_names, has_known_suffix

if TYPE_CHECKING:
    from ..declarations import Declaration
    from ..report.report import Reported
    from ..sets.work_ahead import WorkAhead

Command = Callable[..., Any]
TYPED = "recapture.typed"
"""Where a context keeps the words of the command line."""
FORMS = ["table", "json", "csv", "md", "latex"]
_SHAPE = "recapture.shape"
"""Where a context keeps what `_shape_options` were given."""
_PAGES = ("md", "latex")
"""Forms whose tables can be laid out."""
_ENDINGS = {".json": "json", ".csv": "csv", ".md": "md", ".tex": "latex", ".latex": "latex"}


def one_file(*names: str, **said: Any) -> Callable[[Command], Command]:
    """An option for one file: a second one is refused, not taken in the place of the first."""

    def only(_: click.Context, __: click.Parameter, files: tuple[str, ...]) -> str | None:
        if len(files) > 1:
            raise InputError(f"{names[0]} is for one file here, but {len(files)} are given: {', '.join(files)}")
        return files[0] if files else None

    return click.option(*names, multiple=True, metavar="FILE", callback=only, **said)


def input_options(command: Command) -> Command:
    """--field and --input-format."""
    formats = ", ".join(format_names())
    for option in (
        click.option("--input-format", metavar="NAME", help=f"How to read (default: by the file name): {formats}."),
        click.option("--field", metavar="NAME", help="Column, key or array to read (default: text)."),
    ):
        command = option(command)
    return command


def encoding_options(command: Command) -> Command:
    """Everything about turning texts into vectors; `chosen_encoding` collects it."""
    for option in (
        click.option("--no-cache", is_flag=True, help="Neither read nor keep vectors on disk."),
        click.option("--truncate", is_flag=True, help="Cut texts too long for the encoder (default: windows)."),
        click.option("--offline", is_flag=True, help="Never touch the network."),
        click.option(
            "--dtype", metavar="NAME", help="Of the encoder: float32, float16, bfloat16, int8 (default: float32)."
        ),
        click.option("--batch-size", type=click.IntRange(1), help="Most texts encoded at once (default: by tokens)."),
        click.option("--device", metavar="NAME", help="auto, cpu, cuda, cuda:1, mps (default: auto)."),
        click.option("--pooling", metavar="NAME", help="mean, max or cls (default: the model's own)."),
        click.option(
            "--encoder",
            metavar="NAME",
            help="Model name, folder, file of word vectors or bag-of-words (default: all-MiniLM-L6-v2).",
        ),
    ):
        command = option(command)
    return command


def set_options(command: Command) -> Command:
    """How sets are read and encoded; `read_and_encoded` parts the two."""
    for option in (
        encoding_options,
        click.option(
            "--reference-format", metavar="NAME", help="How to read the reference (default: by its file name)."
        ),
        click.option("--reference-field", metavar="NAME", help="The same for the reference, where it differs."),
        input_options,
    ):
        command = option(command)
    return command


_OF_READING = ("field", "input_format", "reference_field", "reference_format")


def read_and_encoded(given: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """What `set_options` were given, but for the encoder: for `read_sets`, and for the library."""
    encoding = {name: value for name, value in given.items() if name not in _OF_READING}
    return {name: given[name] for name in _OF_READING}, chosen_encoding(**encoding)


def interval_option(command: Command) -> Command:
    def level(_: click.Context, __: click.Parameter, value: float | None) -> float | None:
        if value is not None and not 0 < value < 1:
            raise InputError(f"--interval takes a level between 0 and 1 such as 0.95, not {value:g}")
        return value

    return click.option(
        "--interval", type=float, metavar="LEVEL", callback=level, help="Interval around every number, e.g. 0.95."
    )(command)


def ahead_options(command: Command) -> Command:
    """--dry-run and --budget."""

    def checked(_: click.Context, __: click.Parameter, value: str | None) -> str | None:
        if value is not None:
            seconds_of(value)
        return value

    budget = click.option(
        "--budget",
        metavar="TIME",
        callback=checked,
        help="Take as large a sample as fits: 90s, 10min, 1h30min; prints the interval it costs.",
    )
    return dry_run_option(budget(command))


def dry_run_option(command: Command) -> Command:
    return click.option(
        "--dry-run", is_flag=True, help="Print how long it would take, memory and disk; do and write nothing."
    )(command)


def foretell(ahead: WorkAhead, form: str) -> None:
    """Print what work would take, in the place of its result."""
    if form == "json":
        click.echo(json.dumps(ahead.record(), indent=2))
    else:
        click.echo("\n".join(ahead.lines()))


def check_ahead(dry_run: bool, budget: str | None, sample: int | None) -> None:
    """--budget chooses the sample that --sample would name; --dry-run does nothing that could be cut."""
    if budget is not None and sample is not None:
        raise InputError("--budget chooses how large a sample is, and so does --sample: leave out either")
    if budget is not None and dry_run:
        raise InputError("--dry-run says how long all of it takes, --budget takes a part: leave out either")


def share_option(name: str, usual: float, what: str) -> Callable[[Command], Command]:
    """A number between 0 and 1."""

    def checked(_: click.Context, __: click.Parameter, value: float) -> float:
        if not 0 < value < 1:
            raise InputError(f"{name} takes a number between 0 and 1, not {value:g}")
        return value

    text = f"{what} (default: {usual:g})."
    return click.option(name, type=float, default=usual, metavar="LEVEL", callback=checked, help=text)


def inference_options(command: Command) -> Command:
    """--interval and --pvalue."""

    def asked(_: click.Context, __: click.Parameter, value: str | None) -> bool | int | str:
        if value in (None, "auto"):
            return value is not None
        if value in ("exact", "sampled", "analytic"):
            return value
        number = typed_number(value)
        if isinstance(number, str) or number < 1:
            raise InputError(
                f"--pvalue takes nothing, auto, exact, sampled, analytic or a number of labellings, not "
                f"{shortened(value)!r} (a file name goes before it)"
            )
        return number

    pvalue = click.option(
        "--pvalue",
        is_flag=False,
        flag_value="auto",
        metavar="[HOW]",
        callback=asked,
        help="p-value of one distribution: all relabellings if few, else seeded; exact, sampled, analytic, a number.",
    )
    return interval_option(pvalue(command))


def chosen_encoding(
    pooling: str | None,
    device: str | None,
    batch_size: int | None,
    dtype: str | None,
    offline: bool,
    truncate: bool,
    no_cache: bool,
) -> dict[str, Any]:
    """Only what the user asked for: an option that does not apply to ready vectors would be refused."""
    options: dict[str, Any] = {"pooling": pooling, "device": device, "batch_size": batch_size, "dtype": dtype}
    options |= {"offline": offline or None, "truncate": truncate or None, "cache": False if no_cache else None}
    return {name: value for name, value in options.items() if value is not None}


def output_format(
    known: list[str], default: str | None = "table", default_text: str = "table"
) -> Callable[[Command], Command]:
    def check(_: click.Context, __: click.Parameter, name: str | None) -> str | None:
        if name is not None and name not in known:
            raise InputError(f"unknown output format {name!r}: {nearest_names(name, known)}")
        return name

    text = f"{', '.join(known[:-1])} or {known[-1]} (default: {default_text})."
    option = click.option("--format", "form", default=default, metavar="NAME", callback=check, help=text)

    def add(command: Command) -> Command:
        return option(_shape_options(command) if set(_PAGES) <= set(known) else command)

    return add


def _shape_options(command: Command) -> Command:
    """--rows, --tables, --digits, --transpose, --intervals of Markdown and LaTeX; `chosen_form` and `deliver` know
    them, so no command has to.
    """

    def keep(context: click.Context, parameter: click.Parameter, value: Any) -> None:
        if value is not None and value is not False:
            context.meta.setdefault(_SHAPE, {})[parameter.name] = value

    kept: dict[str, Any] = {"expose_value": False, "callback": keep}
    for option in (
        click.option("--intervals", metavar="WHERE", **kept, help="beside (default), below, pm (±) or none."),
        click.option("--transpose", is_flag=True, **kept, help="Rows as columns, columns as rows."),
        click.option("--digits", type=click.IntRange(0, 15), metavar="N", **kept, help="Decimals of numbers."),
        click.option("--tables", metavar="NAMES", **kept, help="Which: words of their titles, comma-separated."),
        click.option("--rows", metavar="NAMES", **kept, help="With md, latex: numbers or metrics, comma-separated."),
    ):
        command = option(command)
    return command


def _shape(form: str) -> dict[str, Any]:
    """How tables are laid out, where the form has such tables."""
    context = click.get_current_context(silent=True)
    given: dict[str, Any] = {} if context is None else context.meta.get(_SHAPE, {})
    if given and form not in _PAGES:
        named = " and ".join(f"--{name}" for name in given)
        raise InputError(f"{named} lay out tables of --format md and latex, not {form}")
    return given


def arrays_option(what: str) -> Callable[[Command], Command]:
    return click.option("--arrays", is_flag=True, help=f"With json: also {what}.")


def with_arrays(arrays: bool, form: str) -> dict[str, Any]:
    """What the method that writes the form is told."""
    if arrays and form != "json":
        raise InputError(f"--arrays goes with --format json, not {form}")
    return {"arrays": True} if arrays else {}


def report_options(series: bool = False) -> Callable[[Command], Command]:
    """--report, and --series where systems may have an order; `deliver` takes both."""

    def order(_: click.Context, __: click.Parameter, text: str | None) -> bool | list[float]:
        if text in (None, ""):
            return text is not None
        try:
            numbers = [float(number) for number in str(text).split(",")]
        except ValueError:
            numbers = [math.nan]
        if not all(map(math.isfinite, numbers)):
            raise InputError(
                f"--series takes nothing, or a number for each system such as 0.5,0.7,1, not {shortened(str(text))!r}"
            )
        return numbers

    def add(command: Command) -> Command:
        if series:
            command = click.option(
                "--series",
                is_flag=False,
                flag_value="",
                metavar="[NUMBERS]",
                callback=order,
                help="The systems have an order (checkpoints, temperatures): the page draws curves.",
            )(command)
        return click.option("--report", metavar="FILE", help="Write a page (.html or .htm) that shows everything.")(
            command
        )

    return add


def check_report(report: str | None, series: bool | list[float] = False, systems: int = 0) -> None:
    """The name promises a page, no option is for a page that is not asked for, and systems have as many places in
    their order as there are systems (0: not known yet).
    """
    if report is not None:
        from ..page.page_parts import check_ending
        from ..page.series import order_of

        check_ending(report)
        if series is not False and systems:
            order_of([""] * systems, series)
    elif series is not False:
        raise InputError("--series is for the page: name it with --report")


def flags(parameters: Sequence[str]) -> str:
    """How a command calls the parameters that a message of the library points to."""
    others = {"directions": "--lower-is-better, --higher-is-better"}
    named = [others.get(name, f"--{name.replace('_', '-')}") for name in parameters]
    return f" (see {', '.join(named)})" if named else ""


def say(message: str) -> None:
    """A message to the person, kept apart from results; whoever has closed stderr, or filled its disk, does without."""
    try:
        click.echo(f"recapture: {visible(message, lines=False)}", err=True)
    except OSError:
        discard(sys.stderr)


def discard(stream: Any) -> None:
    """Nothing more can be written there: what is still on its way must not fail again when the program ends."""
    with contextlib.suppress(OSError, AttributeError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)


def terminal_width() -> int | None:
    """Columns of the terminal that results go to; None where they go to a file or a program."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else None


def chosen_form(form: str | None, output: str | None) -> str:
    """The form that was asked for, or that of the file's ending; never a table under a name that promises another."""
    chosen = _form(form, output)
    if shape := _shape(chosen):
        from ..report.arrangement import arrangement

        arrangement(**shape)  # what can be refused is refused before the work
    return chosen


def _form(form: str | None, output: str | None) -> str:
    ending = Path(output or "").suffix.lower()
    if form not in (None, "table"):
        return str(form)
    if ending not in (*_ENDINGS, ".txt", ""):
        known = ", ".join(_ENDINGS)
        raise InputError(
            f"cannot write {output}: no form has the ending {ending}; there are {known}, and .txt for a table"
        )
    return form or _ENDINGS.get(ending, "table")


def check_stdin(*inputs: str) -> None:
    if inputs.count("-") > 1:
        raise InputError("standard input (-) can serve for one input only")


def check_targets(
    output: str | None,
    beside: str | None = None,
    candidates: Sequence[str] = (),
    flag: str = "--per-item",
    report: str | None = None,
    others: int = 0,
) -> None:
    """What is to be written can be, and is neither the other nor anything that this command reads.

    beside: a second file, which `flag` names. candidates: the files that --candidate means, where it may name patterns
    and folders. others: systems beside those.
    """
    if "-" in (output, beside, report):
        named = f"--output, {flag} and --report" if report else f"--output and {flag}"
        raise InputError(f"{named} name files; without --output results go to stdout")
    check_report(report, click.get_current_context().params.get("series", False), len(candidates) + others)
    inputs = [*_read_by(click.get_current_context()), *candidates]
    targets = {"--output": output, flag: beside, "--report": report}
    written = [path for path in targets.values() if path]
    if written:
        from ..files import cache_folder, check_writable

        models = os.environ.get("RECAPTURE_MODELS")
        for path in written:
            check_writable(path, [*inputs, cache_folder(), *([models] if models else [])])
    for (one, first), (other, second) in combinations([each for each in targets.items() if each[1]], 2):
        if Path(str(first)).resolve() == Path(str(second)).resolve():
            raise InputError(f"{one} and {other} both name {first}")
    if not output:
        _check_stdout(inputs)
    if not output and isinstance(sys.stdout, io.TextIOWrapper):
        with contextlib.suppress(ValueError):  # a stream that is no file, as in tests
            os.write(sys.stdout.fileno(), b"")  # a closed stdout is found before the work, too


def _check_stdout(inputs: Sequence[str]) -> None:
    """Refuse to write results to standard output where that is a file among the inputs (`>> input`)."""
    for path in inputs:
        try:
            target, source = os.fstat(1), os.fstat(0) if path == "-" else Path(path).stat()
        except (OSError, ValueError):  # whoever reads it says why it cannot be read
            continue
        if stat.S_ISREG(target.st_mode) and os.path.samestat(source, target):
            raise InputError(f"standard output goes to {path}, an input: > empties it, and >> would add to it")


def _read_by(context: click.Context) -> Iterator[str]:
    """All that a call of a command names as files or folders to read, by what its parameters declare."""
    for parameter in context.command.params:
        declared = parameter.metavar or ("FILE" if isinstance(parameter, click.Argument) else "")
        reads = declared.startswith(("FILE", "FOLDER", "DIR")) or parameter.name in ("encoder", "model")
        if reads and parameter.name not in ("output", "per_item", "per_text", "report", "candidate"):
            value = context.params.get(parameter.name or "")
            yield from value if isinstance(value, tuple) else [value] if isinstance(value, str) else []


_CANDIDATE = ("-c", "--candidate")


class WithCandidates(click.Command):
    """A command where further names after -c are candidates, too, as a shell leaves them of `-c runs/*.txt`."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        return super().parse_args(ctx, _with_option_before_each(args))


def _with_option_before_each(arguments: Sequence[str]) -> list[str]:
    """`-c a b -c c` as `-c a -c b -c c`: in the order of the command line, on which --name depends.

    A name that begins with - ends them, but for the - of standard input.
    """
    written: list[str] = []
    names = value = False
    for place, argument in enumerate(arguments):
        if argument == "--":  # what follows is not for options
            return [*written, *arguments[place:]]
        if value:
            names, value = True, False
        elif argument in _CANDIDATE:
            value = True
        elif argument.startswith("-") and argument != "-":
            names = argument.startswith("--candidate=") or (argument.startswith("-c") and argument[1] != "-")
        elif names:
            written.append(_CANDIDATE[0])
        written.append(argument)
    return written


def candidate_files(paths: Sequence[str], input_format: str | None = None) -> tuple[str, ...]:
    """The files that names mean: themselves, all that match a pattern, or those of a folder.

    A folder means its own files whose ending a format has (all of them where the format is named), in the order of
    their names and without hidden ones. Files that are left out are said.
    """
    return tuple(file for path in paths for file in _files(path, input_format))


def _files(path: str, input_format: str | None) -> list[str]:
    if path == "-":
        return [path]
    if os.path.isdir(path):  # noqa: PTH112 - a name too long, for one, is no folder: whoever reads it says so
        return _of_folder(path, input_format)
    if os.path.exists(path) or not glob.has_magic(path):  # noqa: PTH110
        return [path]
    found = sorted(name for name in glob.glob(path, recursive=True) if not os.path.isdir(name))  # noqa: PTH112, PTH207 - paths as written
    if not found:
        raise InputError(f"no file matches {path!r}")
    return found


def _of_folder(path: str, input_format: str | None) -> list[str]:
    try:
        files = sorted(entry.path for entry in os.scandir(path) if entry.is_file() and not entry.name.startswith("."))
    except OSError as error:
        raise InputError(f"the folder {path} cannot be read: {error.strerror}") from None
    known = files if input_format else [file for file in files if has_known_suffix(file)]
    if not known:
        others = f"; {len(files)} others have endings of no format" if files else ""
        raise InputError(f"the folder {path} holds no file of texts or vectors{others}")
    left = [Path(file).name for file in files if file not in known]
    if left:
        say(f"{path}: left out {', '.join(left[:5])}{', ...' if len(left) > 5 else ''}: no format has such an ending")
    return known


def candidate_names(paths: tuple[str, ...], chosen: tuple[str, ...]) -> list[str]:
    """As the user says; else file names, or whole paths where two files share a name."""
    for path in paths:
        if paths.count(path) > 1:
            raise InputError(f"candidate {path} is given twice")
    if chosen:
        if len(chosen) != len(paths):
            raise InputError(f"candidates and names must be equally many, not {len(paths)} and {len(chosen)}")
        if len(set(chosen)) < len(chosen):
            raise InputError("two candidates have the same name")
        return list(chosen)
    names = [path if path == "-" else Path(path).name for path in paths]
    names = names if len(set(names)) == len(names) else list(paths)
    return [os.fsencode(name).decode("utf-8", "replace") for name in names]  # names that are not UTF-8, too


def deliver(
    result: Reported,
    form: str,
    output: str | None,
    notes: Sequence[str],
    also: Mapping[str, str | bytes] | None = None,
    how: Mapping[str, Any] | None = None,
    report: str | None = None,
    series: bool | list[float] = False,
) -> None:
    """A result in one of the forms, to the file (then stdout has the answer alone) or to stdout; then what the user
    should know, unless it is part of it.

    also: further files to write, by path; all are written or none. how: for the method that writes the form.
    report: where the page goes. series: see `report_options`.
    """
    from ..report.report import FORMS as METHODS

    if series is not False:
        from ..page.series import in_order

        result = in_order(result, series)
    if form == "table":
        width = None if output else terminal_width()
        how = {"width": width, "color": width is not None}
    text = getattr(result, METHODS[form])(**{**(how or {}), **_shape(form)})
    files: dict[str, str | bytes] = {**(also or {}), **({output: text} if output else {})}
    if report:
        from ..page.page_parts import page_of

        files[report] = page_of(result, series=series, command=_typed()).to_html()
    left = None
    with _written(files):
        if not output:
            try:
                click.echo(text if form != "json" else _encodable(text), nl=False)
                sys.stdout.flush()
            except BrokenPipeError as error:  # whoever reads has seen enough; the files are wanted all the same
                left = error
    if output:
        _answer(result)
    for path in files:
        say(f"wrote {path}")
    for note in notes if output or form != "json" else ():  # what is on the terminal as JSON has them
        say(note)
    if left is not None:
        raise left


def _answer(result: Reported) -> None:
    """Print the sentences that a result opens with, for whoever has the rest in a file; who has closed stdout does
    without.
    """
    from ..report.report import Report

    words = Report("", [], verdict=getattr(result, "verdict", ())).to_table(terminal_width()).rstrip("\n")
    try:
        if words:
            click.echo(words)
            sys.stdout.flush()
    except OSError:
        discard(sys.stdout)


def _typed() -> str:
    """The command as it was typed, for whoever wants to repeat it."""
    return shlex.join(["recapture", *click.get_current_context().meta.get(TYPED, [])])


def _written(files: Mapping[str, str | bytes]) -> contextlib.AbstractContextManager[None]:
    """A block after which the files are there, all or none."""
    if not files:
        return contextlib.nullcontext()
    from ..files import whole_files

    return whole_files(files)


def _encodable(text: str) -> str:
    """JSON that a terminal without some of its characters still shows in full."""
    try:
        text.encode(sys.stdout.encoding or "utf-8")
    except UnicodeEncodeError:
        return json.dumps(json.loads(text), indent=2) + "\n"
    return text


# Options that belong to single metrics: each goes to all chosen metrics that have it, and to one at least.

_ONLY = {"alpha": "infolm", "beta": "infolm"}
"""Options that belong to one metric, though others have parameters of that name."""
_OF_MODELS = {"device": ("model", "encoder"), "batch-tokens": ("model", "encoder"), "dtype": ("model", "encoder")}


def _numbers(_: click.Context, parameter: click.Parameter, text: str | None) -> float | list[float] | None:
    """One number, or several; temperatures are above 0."""
    if text is None:
        return None
    try:
        numbers = [float(number) for number in text.split(",")]
    except ValueError:
        numbers = [math.nan]
    above = parameter.name == "temperature"
    if not all(math.isfinite(number) and (number > 0 or not above) for number in numbers):
        option = f"--{parameter.name} takes numbers{' above 0' if above else ''} such as 1 or 0.5"
        raise InputError(f"{option}, not {shortened(text)!r}")
    return numbers[0] if len(numbers) == 1 else numbers


def _names(_: click.Context, __: click.Parameter, text: str | None) -> list[str] | None:
    return None if text is None else [name.strip() for name in text.split(",") if name.strip()]


def word_options(several: bool) -> Callable[[Command], Command]:
    """Options of metrics on word pieces that more than one command has. several: whether InfoLM may have many measures
    and temperatures."""
    listed = ", comma-separated" if several else ""

    def add(command: Command) -> Command:
        names, numbers = ("NAMES", "NUMBERS") if several else ("NAME", "NUMBER")
        for option in (
            click.option("--batch-tokens", type=click.IntRange(1), help="Tokens that go through a model at once."),
            click.option(
                "--model",
                metavar="NAME",
                help="Masked language model: name or folder (default: recapture-minilm-head).",
            ),
            click.option(
                "--idf/--no-idf", default=None, help="Weigh pieces by how few references have them, or alike."
            ),
            click.option("--beta", callback=_numbers, metavar=numbers, help=f"For the measures ab and gamma{listed}."),
            click.option(
                "--alpha", callback=_numbers, metavar=numbers, help=f"For the measures alpha, renyi and ab{listed}."
            ),
            click.option("--temperature", callback=_numbers, metavar=numbers, help=f"InfoLM's{listed} (default: 1)."),
            click.option("--measure", callback=_names, metavar=names, help=f"InfoLM's{listed} (default: fisher_rao)."),
        ):
            command = option(command)
        return command

    return add


def by_metric(
    chosen: Sequence[Declaration], known: Iterable[Declaration], parameters: Mapping[str, Any]
) -> dict[str, dict[str, Any]]:
    """Parameters by metric. known: all metrics of the command, which messages name."""
    own: dict[str, dict[str, Any]] = {metric.name: {} for metric in chosen}
    for name, value in parameters.items():
        if value is None:
            continue
        option = f"--no-{name}" if value is False else f"--{name}"
        for metric in taking(name, chosen, known, option):
            own[metric.name][name] = value
    return {name: options for name, options in own.items() if options}


def taking(name: str, chosen: Sequence[Declaration], known: Iterable[Declaration], option: str) -> list[Declaration]:
    """Which of the chosen metrics have a parameter; an option that would do nothing is refused."""
    wanted = _OF_MODELS.get(name, (name,))

    def takes(metric: Declaration) -> bool:
        return _ONLY.get(name, metric.name) == metric.name and any(parameter in metric.defaults for parameter in wanted)

    found = [metric for metric in chosen if takes(metric)]
    if not found:
        able = listed([metric for metric in known if takes(metric)])
        raise InputError(f"{option} is for {able}, but the metrics are {listed(chosen) or 'others'}")
    return found


def listed(metrics: Sequence[Declaration]) -> str:
    return ", ".join(metric.name for metric in metrics)

"""The only module that turns dataframes into columns: any dataframe that narwhals knows, or a dict of columns."""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from enum import Enum
from fractions import Fraction
from typing import Any

import numpy as np
import polars
from polars import DataFrame, Series, String

from probtruth import check, check_arrays
from probtruth.check import MaybeStrings, Source, Strings, Texts, quote, shortlist, unique
from probtruth.errors import InputError
from probtruth.kernels.shapes import RowInts

EXACT = 2.0**53  # Up to this size float64 holds every integer
LONG = 1e21  # From here on whole floats have a power of ten in their names
# Numbers as most programs write them; 007, +1 and 1e3 are names.
NUMBER = r"^-?(0|[1-9][0-9]*)([.][0-9]+)?([eE][+-][0-9]+)?$"
POWER = "[eE]|^-?0[.]0000"  # Numbers that Python writes with a power of ten, or that were written so
# Days and times as most programs write them, and what makes them alike: one program writes 07:30:00.500000Z.
TIME = r"^([0-9]{4}-[0-9]{2}-[0-9]{2}([T ]|$))?([0-9]{2}:[0-9]{2}(:[0-9]{2}([.][0-9]+)?)?(Z|[+-][0-9]{2}:?[0-9]{2})?)?$"
TIMES_ALIKE = (
    ("T", " "),
    ("Z$", "+00:00"),
    ("([+-][0-9]{2})([0-9]{2})$", "${1}:${2}"),
    ("( [0-9]{2}:[0-9]{2})([+-].*)?$", "${1}:00${2}"),
    ("([.][0-9]*?)0+([+-].*)?$", "${1}${2}"),
    ("[.]([+-].*)?$", "${1}"),
    (" 00:00:00$", ""),
)


def name_text(value: object) -> str:
    """A name as text: text stays as written, a number is named by its value (1.0 is 1), a time as in a column."""
    if isinstance(value, Enum):
        return name_text(value.value)
    if isinstance(value, str):
        return value
    if isinstance(value, (bool, np.bool_)):
        return str(bool(value)).lower()
    if isinstance(value, (int, np.integer)):
        return str(int(value))
    if isinstance(value, (float, np.floating)):
        number = float(str(value)) if isinstance(value, np.floating) else value  # as many digits as its type has
        whole = number.is_integer() and abs(number) < LONG
        return str(int(number)) if whole else repr(number)
    if isinstance(value, Fraction):
        return name_text(float(value))  # as in a column
    if isinstance(value, Decimal) and Decimal(repr(float(value))) == value:
        return name_text(float(value))
    if getattr(value, "ndim", None) == 0 and hasattr(value, "__array__") and not isinstance(value, np.generic):
        return name_text(np.asarray(value)[()])  # of an array of another library
    if isinstance(value, (datetime, np.datetime64)):
        return str(by_value(polars_names([str(value)]))[0])
    return str(value)


def by_value(names: Series) -> Series:
    """Text whose cells all are numbers, truth values or times, under the names that `name_text` gives to these."""
    first = names.head(1).to_list()
    if not first or not isinstance(first[0], str):
        return names
    if first[0].lower() in ("true", "false"):
        lower = names.str.to_lowercase()
        return lower if lower.is_in(["true", "false"]).all() else names
    if re.match(NUMBER, first[0]):
        return _by_number(names)
    if re.match(TIME, first[0]) and names.str.contains(TIME).all():
        for pattern, alike in TIMES_ALIKE:
            names = names.str.replace(pattern, alike)
    return names


def named(values: Iterable[object]) -> Texts:
    """Values of Python that stand together, as names."""
    return tuple(by_value(polars_names([name_text(value) for value in values])))


def one_name(value: object, names: Strings, what: str) -> str:
    """The one of these names that a value of Python is: as it is written, or by its value, as in a column."""
    written = name_text(value)
    (valued,) = named([value])
    return check.one_of(valued if written not in names and valued in names else written, tuple(names), what)


def _by_number(names: Series) -> Series:
    if not names.str.contains("[.eE]").any() or not names.str.contains(NUMBER).all():
        return names
    powers = names.filter(names.str.contains(POWER)).unique()
    plain = names.replace(powers, [name_text(float(name)) for name in powers])
    for pattern, shorter in (("[.]0+$", ""), ("^-0$", "0")):
        plain = plain.str.replace(pattern, shorter)
    short = plain.str.replace("([.][0-9]*[1-9])0+$", "$1")
    return short if short.n_unique() == plain.n_unique() else plain  # else 1.1 and 1.10 are two names


def missing(value: object) -> bool:
    """Whether a value of Python says that there is none: None, NaN, pandas' NaT and NA."""
    unequal: Any = value is None or value != value
    return bool(unequal) if isinstance(unequal, (bool, np.bool_)) else type(unequal).__name__ == "NAType"


def as_polars(frame: object) -> DataFrame:
    """Any dataframe that narwhals knows, or a dict of equally long columns, as a polars frame."""
    if isinstance(frame, DataFrame):
        return frame
    if is_records(frame):
        frame = _columns_of_records(frame)
    frame = as_one(frame)
    try:
        columns = _of_library(frame)
        if isinstance(columns, DataFrame):
            return columns
        named = {name_text(name): column for name, column in columns.items()}
        return DataFrame({name: series(name, column) for name, column in named.items()})
    except InputError:
        raise
    except (TypeError, ValueError, polars.exceptions.PolarsError) as error:
        raise InputError(
            f"{type(frame).__name__} ({error})".replace("\n", " "),
            "a dataframe (polars, pandas, pyarrow, ...) or a dict of equally long columns",
            "Wrap the columns in a dict: {'item': [...], 'annotator': [...], 'label': [...]}.",
        ) from None


def _is_pandas(value: object) -> bool:
    return type(value).__module__.startswith("pandas")


def has_fields(table: Any) -> bool:
    """Whether it is an array of NumPy whose columns have names."""
    return bool(getattr(getattr(table, "dtype", None), "names", None))


def is_one_value(value: object) -> bool:
    """Whether it is one value of a row rather than a column."""
    return isinstance(value, str | bytes) or getattr(value, "ndim", None) == 0 or not hasattr(value, "__iter__")


def as_one(table: Any) -> Any:
    """A dict of pandas columns as the frame that they make, a structured array as a dict; anything else unchanged.

    Columns of pandas that are named by several levels have one name each.
    """
    if has_fields(table):
        return {name: table[name] for name in table.dtype.names}
    if _is_pandas(table) and getattr(getattr(table, "columns", None), "nlevels", 1) > 1:
        names = [name_text(levels[-1]) or name_text(levels[0]) for levels in table.columns]
        unique(names, "last name of a column")
        return table.set_axis(names, axis=1)
    if not isinstance(table, Mapping) or not table:
        return table
    columns = [value for value in table.values() if _is_pandas(value) and hasattr(value, "to_frame")]
    if len(columns) == len(table):
        return type(columns[0].to_frame())(dict(table))
    for value in columns[1:]:
        if not value.index.equals(columns[0].index):
            raise InputError(
                "columns with other indexes beside lists",
                "rows in one order",
                "Put them into one dataframe: pandas.DataFrame(columns).",
            )
    return table


def is_records(table: object) -> bool:
    """Whether a table is a list of its rows, each a dict, as JSON has them."""
    return isinstance(table, list | tuple) and len(table) > 0 and all(isinstance(row, Mapping) for row in table)


def _columns_of_records(rows: Any) -> dict[str, list[object]]:
    for place, row in enumerate(rows):
        if row.keys() != rows[0].keys():
            odd = shortlist(sorted(map(name_text, row.keys() ^ rows[0].keys())))
            raise InputError(
                f"a row with other keys ({odd})",
                "the keys of the first row",
                "Give every row the same.",
                Source().at(place),
            )
    return {name: [row[name] for row in rows] for name in rows[0]}


def _of_library(frame: Any) -> DataFrame | Mapping[str, object]:
    """A frame of polars; columns by name where they are a dict, or one holds several types."""
    library = type(frame).__module__.split(".")[0]
    if library == "pyarrow":
        made = DataFrame(frame)
        if hasattr(frame, "schema"):
            made.columns = frame.schema.names  # polars makes up one for a column without a name
        return made
    if library == "xarray":
        frame = frame.to_dataframe(name=frame.name or "score") if hasattr(frame, "name") else frame.to_dataframe()
        return _of_library(frame.reset_index())
    if isinstance(frame, Mapping):
        return frame
    if hasattr(frame, "to_polars"):  # a data set of Hugging Face
        return as_polars(frame.to_polars())
    of_pandas = library == "pandas" and hasattr(frame, "columns")
    if of_pandas:
        if not all(isinstance(name, str) for name in frame.columns):
            frame = frame.set_axis([name_text(name) for name in frame.columns], axis=1)  # as in cells
        unique([*frame.columns], "column")
        for name, kind in frame.dtypes.items():
            if str(kind).startswith(("period", "interval")):  # which no other library has
                frame = frame.assign(**{name: frame[name].map(str, na_action="ignore")})
    else:
        import narwhals

        frame = narwhals.from_native(frame)
        frame = frame.collect() if isinstance(frame, narwhals.LazyFrame) else frame
    import pyarrow

    try:
        made = polars.from_pandas(frame, nan_to_null=True) if of_pandas else frame.to_polars()
        made.columns = list(frame.columns)
        if polars.Binary not in made.dtypes:
            return made
    except (TypeError, ValueError, OverflowError, ImportError, pyarrow.ArrowException, polars.exceptions.PolarsError):
        pass
    return {name: frame[name].to_list() for name in frame.columns}


def with_index(frame: Any) -> DataFrame:
    """As `as_polars`, with the levels of a pandas index that have names of their own as columns."""
    frame = as_one(frame)
    if _is_pandas(frame) and hasattr(frame, "index"):
        taken = frame.columns if hasattr(frame, "columns") else (frame.name,)  # of a Series
        if {None, *taken}.isdisjoint(frame.index.names):
            frame = frame.reset_index()
    return as_polars(frame)


def series(name: str, column: Any) -> Series:
    """A column; values of mixed types become the text of `name_text`, and missing values stay missing."""
    if isinstance(column, Mapping) or hasattr(column, "columns"):
        raise InputError(
            f"a table as the column {quote(name)}",
            "a list of values",
            "Tables by model's name are predictions: evaluate(reference, predictions), score(predictions, truth).",
        )
    column = as_array(column)
    if is_one_value(column):
        raise InputError(
            f"one value as the column {quote(name)}", "a list of values, one a row", "Give every column as a list."
        )
    masked = check_arrays.masked_entry(column)
    if masked is not None:
        raise InputError(
            "a masked entry", "a value in every row", "Fill it in or remove the row.", Source().at(masked[0], name)
        )
    values: Any = column if isinstance(column, (list, tuple, np.ndarray)) else list(column)  # type: ignore[call-overload]
    if isinstance(values, np.ndarray) and values.dtype == object:
        values = values.tolist()
    types = set() if isinstance(values, np.ndarray) else set(map(type, values)) - {type(None)}
    try:
        if len(types) < 2:
            made = Series(name, values)
            of_pandas = any(kind.__name__ == "Timestamp" for kind in types)
            loses_digits = of_pandas and any(getattr(time, "nanosecond", 0) for time in values)
            of_bytes = made.dtype == polars.Binary and bytes not in types  # of a UUID, say, which is text
            if made.dtype != polars.Object and "128" not in str(made.dtype) and not loses_digits and not of_bytes:
                return made
    except (TypeError, OverflowError, polars.exceptions.PolarsError):
        pass
    text = [None if missing(value) else name_text(value) for value in values]
    return Series(name, text, dtype=String)


def flat(frame: DataFrame, column: str, source: Source, option: str) -> Series:
    """A column whose cells are single values; categories and times as text."""
    check.need_columns(frame.columns, {option: column}, source.name)
    series = cells(frame, column)
    kind = series.dtype
    no_text = kind in (polars.Binary, polars.Object, polars.Duration) or type(kind).__name__ == "Extension"
    if kind.is_nested() or no_text:
        hint = "Flatten it: one column for each value." if kind.is_nested() else "Convert it."
        raise InputError(f"a column of type {kind}", "text or numbers", hint, source.at(column=column))
    years = series.dt.year() if kind in (polars.Date, polars.Datetime) else None  # null where there is no such year
    if years is not None and not (series.is_null() | years.is_between(2, 9998)).all(ignore_nulls=False):
        raise InputError(
            "a date outside the years 2 to 9998",
            "one that a calendar has",
            "Correct it, or write it as text.",
            source.at(column=column),
        )
    if kind in (polars.Datetime, polars.Time):  # with nanoseconds, which Python's own text lacks
        day, zone = "" if kind == polars.Time else "%F ", "%:z" if getattr(kind, "time_zone", None) else ""
        return series.dt.to_string(f"{day}%T%.f{zone}")
    return series.cast(String) if kind in (polars.Categorical, polars.Enum, polars.Date) else series


def cells(frame: DataFrame, column: str) -> Series:
    """A column without its name, because polars would read it as a pattern (`*`, `^.*$`)."""
    return frame.get_column(column).alias("cells")


def blank(cells: Series, answers: Strings = ()) -> Series:
    """Which cells say nothing: blanks, NaN, and answers that are none."""
    nothing = cells.is_null()
    if cells.dtype.is_float():
        nothing |= cells.is_nan().fill_null(False)
    if cells.dtype == String:
        nothing |= (cells.str.strip_chars() == "").fill_null(False)
    if answers:
        distinct = cells.drop_nulls().unique()
        words = polars_names([name_text(value) for value in distinct.to_list()])
        none = words.is_in([*answers]) | by_value(words).is_in([*answers])
        nothing |= cells.is_in(distinct.filter(none).implode()).fill_null(False)
    return nothing


def encode(frame: DataFrame, column: str, source: Source, option: str) -> tuple[RowInts, list[str]]:
    """A column of names as integer codes and the distinct names in the order of the codes."""
    return coded(keys(frame, column, source, option))


def lookalikes(names: Strings, what: str) -> Texts:
    """Warnings about names that were probably meant to be one."""
    alike: dict[str, list[str]] = {}
    for name in names:
        plain = " ".join(unicodedata.normalize("NFKC", name).casefold().split())
        (same,) = named([plain])
        alike.setdefault(same, []).append(name)
    apart = f"{what}s that differ only in spaces, case, Unicode form or the decimals of a number are counted apart"
    return tuple([f"{apart}: {', '.join(map(ascii, several))}" for several in alike.values() if len(several) > 1])


def coded(series: Series) -> tuple[RowInts, list[str]]:
    """Names as integer codes, and the distinct names in the order of the codes."""
    distinct = series.unique(maintain_order=True)
    return positions(series, distinct), text(distinct).to_list()


def names(frame: DataFrame, column: str, source: Source, option: str) -> Series:
    """A column of names as text, as in `encode`, but as one column instead of many Python objects."""
    return text(keys(frame, column, source, option))


def keys(frame: DataFrame, column: str, source: Source, option: str) -> Series:
    """A whole column of names; integers stay integers, because they are the same as their decimal text."""
    return by_value(written(frame, column, source, option))


def written(frame: DataFrame, column: str, source: Source, option: str) -> Series:
    """As `keys`, of a part of a column: whether numbers are named by their values is told by the whole."""
    series = flat(frame, column, source, option)
    if series.dtype == polars.Float32:
        series = series.cast(String).cast(polars.Float64)  # the digits that it has
    if series.dtype != String and (not series.dtype.is_signed_integer() or series.dtype == polars.Int128):
        distinct = series.drop_nulls().unique()
        named = [None if missing(value) else name_text(value) for value in distinct.to_list()]
        series = series.replace_strict(distinct, named, default=None, return_dtype=String)
    faults = {"a blank cell": blank(series)}
    if series.dtype == String:
        faults["a NUL character"] = series.str.contains("\0", literal=True)
    for fault, bad in faults.items():
        if bad.any():
            raise InputError(
                fault,
                f"the name of the {option}",
                "Correct it or remove the row.",
                source.at(int(bad.arg_max() or 0), column),
            )
    return series


def text(names: Series) -> Series:
    return names if names.dtype == String else names.cast(String)


def compact(names: Series) -> Series:
    """Names as 64-bit integers if each is the decimal text of one, else unchanged."""
    if names.dtype != String:
        return names
    numbers = names.cast(polars.Int64, strict=False)
    return names if numbers.has_nulls() or (numbers.cast(String) != names).any() else numbers


def alike(columns: Sequence[Series]) -> list[Series]:
    """Columns of names in one type: 64-bit integers where all hold integers, else text."""
    whole = all(column.dtype.is_integer() for column in columns)
    return [column.cast(polars.Int64) if whole else text(column) for column in columns]


def same(names: Series, others: Series) -> bool:
    """Whether two columns of one type hold the same names in one order."""
    alike = names.dtype == others.dtype and len(names) == len(others)
    return names is others or (alike and bool((names == others).all()))


def positions(names_wanted: Series, known: Series) -> RowInts:
    """The position of each name among the known names, -1 if it is not there."""
    if names_wanted.dtype != known.dtype:
        names_wanted, known = alike((names_wanted, known))
    rows = np.arange(len(known))
    if same(names_wanted, known):
        return rows
    wanted = DataFrame({"name": names_wanted})
    table = DataFrame({"name": known, "row": rows})
    joined = wanted.join(table, on="name", how="left", maintain_order="left")
    return joined["row"].fill_null(-1).to_numpy()


@dataclass(frozen=True, eq=False, repr=False)
class Names(Sequence[str]):
    """Names in one column, which become Python text only on access; see `keys` and `compact`."""

    column: Series

    def __len__(self) -> int:
        return len(self.column)

    def __getitem__(self, index: Any) -> Any:
        return Names(self.column[index]) if isinstance(index, slice) else str(self.column[index])

    def __iter__(self) -> Iterator[str]:
        return iter(text(self.column))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and same(*alike([self.column, as_series(other)]))


def numbered(size: int) -> Names:
    """The names 0, 1, ... of rows that came without."""
    return Names(Series("name", np.arange(size)))


def as_series(listed: Strings) -> Series:
    """Names as one column, of text or integers."""
    return listed.column if isinstance(listed, Names) else polars_names(listed)


def polars_names(listed: Strings) -> Series:
    """Names of Python as one column."""
    return Series("name", list(listed), dtype=String)


def of_columns(columns: Iterable[Series]) -> DataFrame:
    """Columns side by side; in a list polars would make up a name for one that has none."""
    return DataFrame({column.name: column for column in columns})


def from_rows(rows: Sequence[Mapping[str, object]], columns: MaybeStrings = None) -> DataFrame:
    return DataFrame(list(rows), schema=list(columns) if columns is not None else None, infer_schema_length=None)


def as_array(values: object) -> object:
    """Values that NumPy can read: tensors and arrays of other libraries through `__array__` or DLPack."""
    if isinstance(values, (np.ndarray, list, tuple)) or not hasattr(values, "__dlpack__"):
        return values
    try:
        return np.asarray(values) if hasattr(values, "__array__") else np.from_dlpack(values)  # type: ignore[arg-type]
    except (TypeError, ValueError, RuntimeError, BufferError) as error:
        why = (str(error).splitlines() or ["no reason given"])[0]
        raise InputError(
            f"{type(values).__name__} that NumPy cannot read ({why})",
            "an array in the memory of this machine",
            "For a tensor: tensor.detach().cpu().",
        ) from None

"""Files of statistics packages and of AnnData."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pandas as pd
import pyreadr
import pyreadstat

from tests.answers.formats.common import ITEMS, RATERS, wide
from tests.answers.formats.table_files import long_table


def long_frame() -> pd.DataFrame:
    head, *table = long_table()
    return pd.DataFrame(table, columns=head)


def spss(folder: Path) -> Path:
    """SPSS: cases and texts as numbers with value labels, and a row without a text."""
    frame = long_frame()
    texts = dict(enumerate(dict.fromkeys(frame["remark"]), start=1))
    frame["remark"] = frame["remark"].map({text: number for number, text in texts.items()})
    frame.loc[len(frame)] = ["2", "cy", 7, None]
    pyreadstat.write_sav(frame, folder / "long.sav", variable_value_labels={"remark": texts})
    return folder / "long.sav"


def stata(folder: Path) -> Path:
    pyreadstat.write_dta(long_frame(), folder / "long.dta")
    return folder / "long.dta"


def sas(folder: Path) -> Path:
    pyreadstat.write_xport(long_frame(), folder / "long.xpt", table_name="LONG")
    return folder / "long.xpt"


def rds(folder: Path) -> Path:
    pyreadr.write_rds(str(folder / "long.rds"), long_frame(), compress="gzip")
    return folder / "long.rds"


def anndata(folder: Path) -> Path:
    """AnnData 0.12, a column for each rater: categories, strings, and strings with a mask."""
    table = {row[0]: row[1:] for row in wide()[1:]}
    ann, bob, cy = zip(*table.values(), strict=True)
    strings = h5py.string_dtype()

    def written(group: Any, name: str, values: Any, kind: str, dtype: Any = None) -> None:
        group.create_dataset(name, data=values, dtype=dtype).attrs["encoding-type"] = kind

    with h5py.File(folder / "cells.h5ad", "w") as file:
        file.attrs["encoding-type"], file.attrs["encoding-version"] = "anndata", "0.1.0"
        file["X"] = np.zeros((len(ITEMS), 2))
        obs = file.create_group("obs")
        obs.attrs["encoding-type"], obs.attrs["_index"] = "dataframe", "_index"
        obs.attrs["column-order"] = np.array(["n_genes", *RATERS], dtype=object)
        written(obs, "_index", list(table), "string-array", strings)
        written(obs, "n_genes", np.arange(len(ITEMS)), "array")
        categories = sorted({text for text in ann if text})
        codes = np.array([categories.index(text) if text else -1 for text in ann], dtype=np.int8)
        one = obs.create_group("ann")
        one.attrs["encoding-type"] = "categorical"
        written(one, "codes", codes, "array")
        written(one, "categories", categories, "string-array", strings)
        written(obs, "bob", list(bob), "string-array", strings)
        one = obs.create_group("cy")
        one.attrs["encoding-type"] = "nullable-string-array"
        written(one, "values", list(cy), "string-array", strings)
        written(one, "mask", np.array([not text for text in cy]), "array")
    return folder / "cells.h5ad"

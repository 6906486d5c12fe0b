"""The data beside the project, and what the project ships."""

import os
import pathlib

import pytest

PROJECT = pathlib.Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def project() -> pathlib.Path:
    return PROJECT


@pytest.fixture(scope="session")
def data() -> pathlib.Path:
    folder = pathlib.Path(os.environ.get("STOWAGE_DATA", PROJECT / "../shared/data"))
    if not folder.is_dir():
        pytest.skip(f"NO DATA at {folder} (STOWAGE_DATA): nothing is compared on real graphs")
    return folder

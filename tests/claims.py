"""Files that claim to hold far more than they do."""

import io
import zipfile

import numpy as np


def header(shape, dtype="<f8", fortran=False):
    file = io.BytesIO()
    about = {"descr": dtype, "fortran_order": fortran, "shape": shape}
    np.lib.format.write_array_header_1_0(file, about)
    return file.getvalue()


def archive(path, **members):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        for name, data in members.items():
            file.writestr(f"{name}.npy", data)
    return path


def saved(array):
    file = io.BytesIO()
    np.save(file, array)
    return file.getvalue()


def claims_rows(folder):
    return archive(folder / "x.npz", x=header((2**40, 3)) + bytes(24))


def claims_columns_first(folder):
    return archive(folder / "x.npz", x=header((2**20, 2**20), fortran=True) + bytes(24))

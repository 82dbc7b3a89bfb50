"""The configuration of train.py goes into the wheel: its one copy in the project is not below src.

Everything else is in pyproject.toml.
"""

from pathlib import Path
from shutil import copytree, rmtree

from setuptools import setup
from setuptools.command.build_py import build_py

FOLDERS = ("conf", "multirun_templates")


class BuildWithConfiguration(build_py):
    """Copies the folders of the project's root into the package; an editable install uses them."""

    def run(self) -> None:
        """Build the package, then copy."""
        super().run()
        if not self.editable_mode:
            for folder in FOLDERS:
                target = Path(self.build_lib) / "supclust" / folder
                rmtree(target, ignore_errors=True)  # what an earlier build left
                copytree(folder, target)


setup(cmdclass={"build_py": BuildWithConfiguration})

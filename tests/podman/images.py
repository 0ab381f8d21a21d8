"""The images of docker-compose.yml without a registry.

The backend's from its Dockerfile, the others from Debian's packages and PyPI.
"""

from __future__ import annotations

import shutil
import urllib.request
from collections.abc import Callable, Mapping
from pathlib import Path
from urllib.parse import unquote, urlsplit

from engine import Engine, printed

from ml_backend.demo.server import VERSION

ROOT = Path(__file__).resolve().parents[2]
HERE = Path(__file__).parent / "recipes"
DEBIAN = "bookworm"  # has Python 3.11
MIRROR = "http://deb.debian.org/debian"
TORCH_CPU_INDEX = "https://download.pytorch.org/whl/cpu"
PYPI = "https://pypi.org/simple"
PIP_SETTINGS = ("global.index-url", "global.extra-index-url", "global.find-links", "global.proxy", "global.timeout")
CERTIFICATES = Path("/etc/ssl/certs/ca-certificates.crt")


def build_all(engine: Engine, images: Mapping[str, str], say: Callable[[str], None], *, rebuild: bool = False) -> None:
    """Make what is missing; the backend's image is always built, from the layers that are there.

    Parameters
    ----------
    images : mapping
        Image of each service of the compose file.
    rebuild : bool
        Make the others again too.
    """
    _debian(engine, say)
    stand_ins = {
        "docker.io/library/python:3.11-slim": "python",
        full_name(images["db"]): "postgres",
        full_name(images["label-studio"]): "label-studio",
    }
    for name, recipe in stand_ins.items():
        if rebuild or not engine.has(name):
            say(f"building the stand-in for {name}")
            context = engine.folder / "context"
            shutil.rmtree(context, ignore_errors=True)
            shutil.copytree(HERE, context)
            shutil.copy(ROOT / ".ci" / "labelstudio-constraints.txt", context)
            _build(engine, name, context / f"{recipe}.Containerfile", context, VERSION=VERSION)
    say(f"building {images['softirr']} from ml_backend/Dockerfile")
    dockerfile = ROOT / "ml_backend" / "Dockerfile"
    _build(engine, full_name(images["softirr"]), dockerfile, ROOT, TORCH_INDEX=_torch_index())


def full_name(image: str) -> str:
    """The name under which Docker's interface looks for an image."""
    return image if image.count("/") > 1 else "docker.io/" + (image if "/" in image else f"library/{image}")


def _debian(engine: Engine, say: Callable[[str], None]) -> None:
    name = "localhost/softirr-check/debian"
    if engine.has(name):
        return
    say(f"fetching Debian {DEBIAN} with debootstrap")
    tree, archive = engine.folder / "debian", engine.folder / "debian.tar"
    shutil.rmtree(tree, ignore_errors=True)
    printed(["debootstrap", "--variant=minbase", DEBIAN, str(tree), MIRROR])
    printed(["tar", "--directory", str(tree), "--create", "--file", str(archive), "."])
    engine.run("import", "--quiet", str(archive), name)
    shutil.rmtree(tree)
    archive.unlink()


def _build(engine: Engine, name: str, recipe: Path, context: Path, **arguments: str) -> None:
    ignore = recipe.with_name(recipe.name + ".dockerignore")
    engine.run(
        *("build", "--quiet", "--layers", "--pull-never", "--network", "host", "--format", "docker"),
        *("--tag", name, "--file", str(recipe)),
        *(("--ignorefile", str(ignore)) if ignore.exists() else ()),
        *(word for key, value in arguments.items() for word in ("--build-arg", f"{key}={value}")),
        *_this_machines_pip(engine),
        str(context),
        timeout=3600,
    )


def _this_machines_pip(engine: Engine) -> list[str]:
    """Options that give a build the package index, the folders and the certificates that pip has on this machine."""
    configuration, folders = "[global]\n", set[Path]()
    for line in printed(["python3", "-m", "pip", "config", "list"]).splitlines():
        key, _, value = line.partition("=")
        value = value.strip("'\"").replace("\\n", " ")
        if key in PIP_SETTINGS:
            configuration += f"{key.removeprefix('global.')} = {value}\n"
            paths = [Path(unquote(urlsplit(word).path)) for word in value.split() if word.startswith(("file:", "/"))]
            # The files of an index are in its folder.
            folders |= {path if key == "global.find-links" else path.parent for path in paths if path.is_dir()}
    options = [word for folder in sorted(folders) for word in ("--volume", f"{folder}:{folder}:ro")]
    if CERTIFICATES.exists():  # not in its own place: Debian's package of certificates writes there
        configuration += "cert = /run/certificates.crt\n"
        options += ["--volume", f"{CERTIFICATES}:/run/certificates.crt:ro"]
    file = engine.folder / "pip.conf"
    file.write_text(configuration)
    return [*options, "--volume", f"{file}:/etc/pip.conf:ro"]


def _torch_index() -> str:
    """PyTorch's own index, as in the Dockerfile, if it is reachable; else PyPI."""
    try:
        urllib.request.urlopen(TORCH_CPU_INDEX + "/torch/", timeout=10).close()
    except OSError:
        return PYPI
    return TORCH_CPU_INDEX

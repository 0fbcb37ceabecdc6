"""A mock of S3 on this machine, if the package for it is installed."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from unittest import mock
from uuid import uuid4

import pytest

pytest.importorskip("obstore", reason="the package obstore is not installed")
server = pytest.importorskip("moto.server", reason="the package moto[server] is not installed")

BUCKET = "searches"


@contextlib.contextmanager
def serving(host: str = "127.0.0.1") -> Iterator[None]:
    """Runs a server with an empty bucket. Environment variables lead new processes to it."""
    import obstore  # noqa: PLC0415, F401

    here = server.ThreadedMotoServer(ip_address="0.0.0.0", port=0, verbose=False)
    here.start()
    _, port = here.get_host_and_port()
    environment = {
        "AWS_ENDPOINT": f"http://{host}:{port}",
        "AWS_ALLOW_HTTP": "true",
        "AWS_ACCESS_KEY_ID": "somebody",
        "AWS_SECRET_ACCESS_KEY": "secret",
        "AWS_REGION": "us-east-1",
    }
    try:
        with mock.patch.dict(os.environ, environment):
            make_bucket(f"http://127.0.0.1:{port}")
            yield
    finally:
        here.stop()


def make_bucket(endpoint: str) -> None:
    """Creates the bucket."""
    import boto3  # type: ignore[import-untyped]  # noqa: PLC0415

    boto3.client(
        "s3",
        endpoint_url=endpoint,
        aws_access_key_id="somebody",
        aws_secret_access_key="secret",
        region_name="us-east-1",
    ).create_bucket(Bucket=BUCKET)


def new_url() -> str:
    """Returns an unused URL."""
    return f"s3://{BUCKET}/{uuid4().hex}"

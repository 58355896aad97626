# The demo, as a user without rights:
#   docker build -t submission-harness .
#   docker run --rm submission-harness
# Your own log, config and runs, all in this folder, as yourself:
#   docker run --rm --user "$(id -u):$(id -g)" -v "$PWD:/work" submission-harness run events.toml
FROM python:3.11-slim AS build
# hadolint ignore=DL3008
RUN apt-get update \
    && apt-get install --yes --no-install-recommends gcc libc6-dev \
    && rm -rf /var/lib/apt/lists/*
COPY . /source
RUN pip wheel --no-cache-dir --wheel-dir /wheels "/source[als,tune,fetch]"

FROM python:3.11-slim
RUN --mount=from=build,source=/wheels,target=/wheels \
    pip install --no-cache-dir --no-index --find-links /wheels "submission-harness[als,tune,fetch]"
WORKDIR /work
COPY configs configs
COPY data data
# Caches go to a folder that every user may write. The user is nobody; hosts may demand a number.
ENV HOME=/tmp
USER 65534
ENTRYPOINT ["harness"]
CMD ["run", "configs/demo.toml", "--out", "/tmp/run"]

# docker build -t rankwell . && docker run --rm -v "$PWD:/data" rankwell evaluate qrels.txt bm25.run
FROM python:3.13-slim AS build
WORKDIR /source
# The compiler does not reach the image that is kept.
# hadolint ignore=DL3008
RUN apt-get update && apt-get install --yes --no-install-recommends gcc libc6-dev && rm -rf /var/lib/apt/lists/*
COPY . .
ARG EXTRAS=""
RUN python -m venv /opt/rankwell \
    && RANKWELL_REQUIRE_KERNEL=1 /opt/rankwell/bin/python -m pip install --no-cache-dir ".${EXTRAS:+[$EXTRAS]}"

FROM python:3.13-slim
COPY --from=build /opt/rankwell /opt/rankwell
ENV PATH="/opt/rankwell/bin:$PATH" PYTHONUNBUFFERED=1
RUN useradd --create-home --uid 1000 rankwell
USER 1000
WORKDIR /data
ENTRYPOINT ["rankwell"]
CMD ["--help"]

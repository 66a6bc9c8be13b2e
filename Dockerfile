# docker build -t atomstream .
FROM python:3.12-slim

# Compiled kernels lie where every user of the container may read and add to them.
ENV NUMBA_CACHE_DIR=/kernels OMP_NUM_THREADS=1 HOME=/tmp
COPY . /src
RUN pip install --no-cache-dir '/src[io,images,plots]'

# Learning once while the image is built compiles what the first run would wait for.
WORKDIR /data
RUN python -c "import numpy; numpy.save('rows.npy', numpy.random.default_rng(0).random((600, 8)))" \
    && atomstream learn rows.npy --atoms 2 --out run \
    && atomstream report run \
    && rm -rf rows.npy run /tmp/* \
    && chmod -R a+rwX /kernels

# A user without rights; `docker run --user` names another one.
RUN useradd --uid 1000 atomstream && chown atomstream /data
USER atomstream
# Unhealthy where the program does not answer, or the folder of the runs cannot be written to.
HEALTHCHECK --interval=1m --timeout=30s CMD atomstream --version && test -w /data
ENTRYPOINT ["atomstream"]

"""Writes serving_trace.csv: what a server of two small transformers might ask of its allocator.

  examples/serving_trace.py > examples/serving_trace.csv

Weights are allocated first and never freed. Requests have different lengths; their keys and values grow with every layer and are freed at the end,
activations are freed as soon as the next layer has read them. Each model has its own stream, and every logits tensor is freed by the stream
that copies results to the host.
"""

LAYERS = 3
WIDTH = 1024  # floats per token
LENGTHS = (17, 130, 48, 512, 96, 301, 64, 17, 255, 400)  # tokens of each request
COPIES = 2  # the stream that copies results


class Program:
    def __init__(self):
        self.rows = ["op,id,size,stream"]
        self.live = {}

    def allocate(self, size, stream):
        number = sum(row.startswith("a") for row in self.rows)
        self.live[number] = size
        self.rows.append(f"a,{number},{size},{stream}")
        return number

    def free(self, number, stream):
        self.rows.append(f"f,{number},{self.live.pop(number)},{stream}")


def serve(program, length, stream):
    token = 4 * WIDTH
    hidden = program.allocate(length * token, stream)
    cache = []
    for _ in range(LAYERS):
        cache.append(program.allocate(2 * length * token, stream))
        scores = program.allocate(4 * length * length, stream)
        mixed = program.allocate(length * token, stream)
        program.free(scores, stream)
        program.free(hidden, stream)
        wide = program.allocate(4 * length * token, stream)
        hidden = program.allocate(length * token, stream)
        program.free(wide, stream)
        program.free(mixed, stream)
    logits = program.allocate(4 * 32000, stream)
    program.free(hidden, stream)
    for each in cache:
        program.free(each, stream)
    return logits


def main():
    program = Program()
    for _ in range(2):
        for _ in range(LAYERS):
            program.allocate(12 * 4 * WIDTH * WIDTH, 0)
    pending = []  # results that are on their way to the host
    for number, length in enumerate(LENGTHS):
        pending.append(serve(program, length, number % 2))
        if len(pending) > 2:
            program.free(pending.pop(0), COPIES)
    print("\n".join(program.rows))


if __name__ == "__main__":
    main()

const newline = 0x0a

/** A line of standard input, or the mark of a line that was too long. */
export type Line = { text: string } | { tooLong: true }

/**
 * The lines of a stream. A line longer than `maxBytes` is replaced by a mark. No line takes more memory than this.
 *
 * @example for await (const line of linesIn(process.stdin, 1024)) if ('text' in line) take(line.text)
 */
export async function* linesIn(input: AsyncIterable<Buffer>, maxBytes: number): AsyncGenerator<Line, void, void> {
  let held: Buffer[] = []
  let bytes = 0
  const take = (piece: Buffer): void => {
    bytes += piece.length
    if (bytes <= maxBytes) held.push(piece)
  }
  const whole = (): Line => {
    const line: Line = bytes > maxBytes ? { tooLong: true } : { text: Buffer.concat(held).toString('utf8').trimEnd() }
    held = []
    bytes = 0
    return line
  }
  for await (const piece of input) {
    let from = 0
    for (let end = piece.indexOf(newline); end >= 0; end = piece.indexOf(newline, from)) {
      take(piece.subarray(from, end))
      from = end + 1
      yield whole()
    }
    take(piece.subarray(from))
  }
  if (bytes > 0) yield whole()
}

import { categoryNumber, partOf, placesOf, type Feature } from '../../data/features.js'
import { readCell, readText, cellOf, sentTwice, unknownColumn, unusable } from '../../data/values.js'
import type { ModelInput } from './artefact.js'

/**
 * Values of one column of a chunk. `valid` says for each row whether there is a value; without it, null is missing. Dates are ISO text,
 * Dates or days since 1970; timestamps are ISO text, Dates or milliseconds since 1970.
 */
export type ColumnVector = { values: ArrayLike<unknown>; valid?: ArrayLike<number | boolean> }

/** Writes the numbers of one input's features. */
type Writer = { at: number; write: (value: unknown, into: Float64Array, at: number) => boolean }

/** An input that the model uses, and its index among all inputs. */
type EncodedInput = { input: ModelInput; place: number; writer: Writer }

const textWriter = (feature: Extract<Feature, { kind: 'category' }>, at: number): Writer => {
  const places = placesOf(feature.categories)
  return {
    at,
    write(value, into, place) {
      const text = readText(value)
      if (text === undefined) return false
      into[place] = categoryNumber(places, feature.rest, text)
      return true
    },
  }
}

const numberWriter = (input: ModelInput, features: readonly Feature[], at: number): Writer => {
  const { type } = input
  if (type === 'text') throw new Error(`"${input.name}" is text, not a number`)
  const parts = features.map((feature) => (feature.kind === 'number' ? feature.part : 'value'))
  return {
    at,
    write(value, into, place) {
      const number = readCell(type, value)
      if (number === undefined) return false
      for (let part = 0; part < parts.length; part++) into[place + part] = partOf(parts[part]!, number, type === 'timestamp')
      return true
    },
  }
}

/**
 * Turns rows of plain values, and chunks of column vectors, into a model's features: `width` numbers per row. Both use the same writers, so
 * a row gives the same bits in either form.
 */
export class Encoder {
  readonly width: number
  private readonly encoded: readonly EncodedInput[]
  private readonly byName = new Map<string, EncodedInput | undefined>()
  private readonly folded = new Map<string, string>()

  constructor(
    private readonly inputs: readonly ModelInput[],
    features: readonly Feature[],
    private readonly target: string,
  ) {
    this.width = features.length
    this.encoded = inputs.flatMap((input, place) => {
      const at = features.findIndex((feature) => feature.input === place)
      const own = features.filter((feature) => feature.input === place)
      const [first] = own
      if (!first) return []
      return [{ input, place, writer: first.kind === 'category' ? textWriter(first, at) : numberWriter(input, own, at) }]
    })
    for (const input of inputs) this.byName.set(input.name, undefined)
    for (const encoded of this.encoded) this.byName.set(encoded.input.name, encoded)
    for (const { name } of inputs) this.folded.set(name.toLowerCase(), name)
  }

  /** The model's own spelling of a column in a row, including the target. An unknown column is a `wrong_arguments` problem. */
  nameOf(sent: string, rowIndex: number): string {
    if (this.byName.has(sent) || sent === this.target) return sent
    const folded = this.folded.get(sent.toLowerCase())
    if (folded !== undefined) return folded
    if (sent.toLowerCase() === this.target.toLowerCase()) return this.target
    throw unknownColumn(
      rowIndex,
      sent,
      this.inputs.map(({ name }) => name),
    )
  }

  /**
   * Writes one row's features at `offset`. Absent columns are missing. Problems (`wrong_arguments`) name the row and the column: an unknown
   * column, a column sent twice (names are compared without case), a value that does not fit.
   */
  encodeRow(row: Readonly<Record<string, unknown>>, rowIndex: number, into: Float64Array, offset: number): void {
    into.fill(NaN, offset, offset + this.width)
    const seen = new Set<string>()
    for (const sent of Object.keys(row)) {
      const name = this.nameOf(sent, rowIndex)
      if (seen.has(name)) throw sentTwice(rowIndex, name)
      seen.add(name)
      const encoded = this.byName.get(name)
      if (encoded && !encoded.writer.write(row[sent], into, offset + encoded.writer.at))
        throw unusable(cellOf(rowIndex, name), row[sent], encoded.input.type)
    }
  }

  /**
   * Writes the features of a chunk's first `rows` rows. `columns` has one vector for each of the model's inputs, in their order;
   * `undefined` for an absent input.
   */
  encodeColumns(columns: readonly (ColumnVector | undefined)[], rows: number, into: Float64Array): void {
    const { width } = this
    into.fill(NaN, 0, rows * width)
    for (const { input, place, writer } of this.encoded) {
      const vector = columns[place]
      if (!vector) continue
      const { values, valid } = vector
      for (let row = 0; row < rows; row++) {
        if (valid && !valid[row]) continue
        if (!writer.write(values[row], into, row * width + writer.at)) throw unusable(cellOf(row, input.name), values[row], input.type)
      }
    }
  }
}

import { Problem } from '../../basics/errors.js'
import { limits } from '../../basics/limits.js'

/** What happens to a bad row: the whole file is refused, or the row is skipped and counted. */
export type OnBadRows = 'refuse' | 'skip'

/** A bad row: the line (from 1) it starts on, its first characters, and the reason. */
export type BadRow = { line: number; text: string; reason: string }

export type SkippedRows = { count: number; first: BadRow[] }

const shownChars = 200

/** Text for a message: one line of at most 200 characters. */
const shorten = (text: string): string => (text.length > shownChars ? `${text.slice(0, shownChars)}…` : text)

/**
 * A file that cannot be read as a table.
 *
 * @example throw badFile('The file is empty.')
 */
export const badFile = (detail: string, extras: Problem['extras'] = {}): Problem =>
  new Problem('bad_file', 'File cannot be read', detail, extras)

/** A file, or something in it, exceeds a limit. */
export const tooLarge = (detail: string): Problem => new Problem('too_large', 'File too large', detail)

/** Collects the bad rows, or refuses the file at the first of them. */
export class BadRows {
  readonly skipped: SkippedRows = { count: 0, first: [] }

  constructor(private readonly onBadRows: OnBadRows) {}

  /**
   * Notes a row that cannot be read, if such rows are skipped.
   *
   * @throws Problem bad_file with the row, if they are refused
   */
  add(row: BadRow): void {
    const shown = { ...row, text: shorten(row.text) }
    if (this.onBadRows === 'refuse') {
      throw badFile(`Line ${row.line}: ${row.reason}`, { ...shown, hint: 'Correct the line, or ask for bad rows to be skipped.' })
    }
    this.skipped.count += 1
    if (this.skipped.first.length < limits.fileBadRowsReportedMax) this.skipped.first.push(shown)
  }

  /** Skipping bad rows must leave at least one row. */
  refuseIfNothingIsLeft(rowCount: number): void {
    const [first] = this.skipped.first
    if (rowCount > 0 || first === undefined) return
    throw badFile(`None of the ${this.skipped.count} rows can be read. Line ${first.line}: ${first.reason}`, first)
  }
}

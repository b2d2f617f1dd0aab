/** The forms in which a chat service shows what Markdown marks. */
export type ChatForms = {
  bold: (text: string) => string
  code: (text: string) => string
  block: (lines: readonly string[]) => string[]
  table: (rows: readonly (readonly string[])[]) => string[]
}

/** Texts without marks, for chat services that show marks as characters. */
export const plainForms: ChatForms = {
  bold: (text) => text,
  code: (text) => text,
  block: (lines) => [...lines],
  table: (rows) => rows.map((cells) => cells.join(' | ')),
}

/** Longer cells are not aligned: one of them would widen every row. */
const alignedMaxChars = 40

const aligned = (rows: readonly (readonly string[])[]): string[] => {
  const widths: number[] = []
  for (const cells of rows)
    for (const [column, { length }] of cells.entries()) widths[column] = Math.max(widths[column] ?? 0, Math.min(length, alignedMaxChars))
  const padded = (cells: readonly string[]) => cells.map((cell, column) => cell.padEnd(widths[column] ?? 0))
  return rows.map((cells) => padded(cells).join('  ').trimEnd())
}

const slackBlock = (lines: readonly string[]): string[] => ['```', ...lines, '```']

/** The marks of Slack's own texts, which have no tables. */
export const slackForms: ChatForms = {
  bold: (text) => `*${text}*`,
  code: (text) => `\`${text}\``,
  block: slackBlock,
  table: (rows) => slackBlock(aligned(rows)),
}

/**
 * Code, bold text or a link within a line. None holds its own first mark, and each has a greatest length: a long line takes one pass.
 * Asterisks within words, as in 2**3, mark nothing.
 */
const marked =
  /`([^`]{1,500})`|(?<![\w*])\*\*(?=\S)([^*]{1,500})(?<=\S)\*\*(?![\w*])|\[([^[\]]{1,500})\]\((https?:\/\/[^\s)[\]]{1,2000})\)/g

const inline = (line: string, forms: ChatForms): string =>
  line.replaceAll(marked, (_, code?: string, bold?: string, label?: string, address?: string) => {
    if (code !== undefined) return forms.code(code)
    if (bold !== undefined) return forms.bold(inline(bold, forms))
    return label === address ? String(address) : `${label} (${address})`
  })

const lineIn = (line: string, forms: ChatForms): string => {
  const heading = /^#{1,6} +(\S.*)$/.exec(line)?.[1]
  if (heading !== undefined) return forms.bold(inline(heading, plainForms))
  return inline(line.replace(/^( {0,12})\* +/, '$1• '), forms)
}

const cellsOf = (line: string): string[] =>
  line
    .trim()
    .replace(/^\|/, '')
    .replace(/(?<!\\)\|$/, '')
    .split(/(?<!\\)\|/)
    .map((cell) => inline(cell.trim().replaceAll('\\|', '|'), plainForms))

const isRow = (line: string | undefined): line is string => line?.includes('|') === true

/** Whether a line stands between the head of a table and its rows: `|---|:--:|`. */
const isRule = (line: string | undefined): boolean => isRow(line) && cellsOf(line).every((cell) => /^:?-+:?$/.test(cell))

/** A line that has backticks behind the first ones is code within a line. */
const isFence = (line: string): boolean => /^ {0,3}```[^`]*$/.test(line)

/** Where the lines from `from` on end: at the first that does not belong to them. */
const endOf = (lines: readonly string[], from: number, belongs: (line: string) => boolean): number => {
  let end = from
  while (end < lines.length && belongs(lines[end] ?? '')) end += 1
  return end
}

/**
 * An answer in Markdown in the forms of a chat service: headings, bold text, code, links, lists and tables. Other texts stay as they are.
 * Links show their address, so that no label hides it.
 *
 * @example fromMarkdown('**Biscoe** has most.', slackForms) // '*Biscoe* has most.'
 */
export const fromMarkdown = (text: string, forms: ChatForms): string => {
  const lines = text.split('\n')
  const shown: string[] = []
  let at = 0
  while (at < lines.length) {
    const line = lines[at] ?? ''
    if (isFence(line)) {
      const end = endOf(lines, at + 1, (other) => !isFence(other))
      shown.push(forms.block(lines.slice(at + 1, end)).join('\n'))
      at = end + 1
    } else if (isRow(line) && isRule(lines[at + 1])) {
      const end = endOf(lines, at + 2, isRow)
      shown.push(forms.table([line, ...lines.slice(at + 2, end)].map(cellsOf)).join('\n'))
      at = end
    } else {
      shown.push(lineIn(line, forms))
      at += 1
    }
  }
  const converted = shown.join('\n')
  // Chat services refuse a text without characters.
  return converted.trim() === '' ? text : converted
}

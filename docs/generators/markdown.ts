/**
 * A table of Markdown.
 *
 * @example
 * table(['Code', 'Status'], [['not_found', '404']])
 */
export const table = (heads: readonly string[], rows: readonly (readonly string[])[]): string =>
  [heads, heads.map(() => '---'), ...rows].map((cells) => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`).join('\n')

/** Names that would change the meaning of a text if they were printed without quotes, and words of SQL. */
const hostile = [
  ...[
    'x" y',
    "x' y",
    'a"b',
    "a'b",
    'a\\b',
    'a.b',
    'a b',
    '1a',
    'A',
    'é',
    '"',
    "'",
    '$1',
    '?',
    'x\ny',
    'a"" b',
    '*',
    ';',
    '--',
    '/*',
    '\u{1F600}',
  ],
  ...[
    'x"); SELECT 42 --',
    "x'); SELECT 42 --",
    'x"/*',
    'x) FROM y --',
    'version() AS q, z',
    '1 AS a) AS q) AS t; ROLLBACK; DROP TABLE t; SELECT (1',
  ],
  ...[
    'select',
    'from',
    'user',
    'current_date',
    'interval',
    'integer',
    'lambda',
    'columns',
    'pivot',
    'getenv',
    'ledger_name_0',
    'ledger_name_1 --',
  ],
]
const pieces = [
  '"',
  "'",
  '`',
  '\\',
  ';',
  '--',
  '/*',
  '*/',
  '(',
  ')',
  '.',
  ',',
  '*',
  '$',
  '?',
  ' ',
  '\n',
  'a',
  'Z',
  '0',
  'select',
  'é',
  ':',
  '=',
  '[',
  '}',
]

/** Random names and texts for SQL, most of them hostile. */
export class HostileNames {
  constructor(private readonly random: () => number) {}

  below(limit: number): number {
    return Math.floor(this.random() * limit)
  }

  one<T>(items: readonly T[]): T {
    const item = items[this.below(items.length)]
    if (item === undefined) throw new RangeError('nothing to choose from')
    return item
  }

  private name(): string {
    if (this.below(3) > 0) return this.one(hostile)
    return Array.from({ length: 1 + this.below(8) }, () => this.one(pieces)).join('')
  }

  /** A name in quotes. */
  id(): string {
    return `"${this.name().replaceAll('"', '""')}"`
  }

  /** Up to twelve different names, each as a part of a list. */
  several(part: (id: string) => string = (id) => id): string {
    const ids = Array.from({ length: 1 + this.below(12) }, (_, n) => `"${`${this.name()}${n}`.replaceAll('"', '""')}"`)
    return ids.map(part).join(', ')
  }

  text(): string {
    return `'${this.name().replaceAll("'", "''")}'`
  }
}

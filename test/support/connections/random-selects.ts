/**
 * Random queries with the same meaning in both databases; `{t}` and `{u}` stand for the tables. With `isRich` they also use types and
 * syntax that only PostgreSQL has.
 */
export class Queries {
  constructor(
    private readonly random: () => number,
    private readonly isRich = false,
  ) {}

  #one<T>(...options: readonly T[]): T {
    return options[Math.floor(this.random() * options.length)] as T
  }

  #integer(): string {
    return String(this.#one<number | bigint>(0, 1, 2, 3, 5, -1, 100, 9007199254740993n))
  }

  #text(): string {
    return this.#one(`'a'`, `'A'`, `'ab'`, `'ab '`, `''`, `'ä'`, `'straße'`, `'10%'`, `'x'`)
  }

  /** A comparison of a column with constants; `p` is a prefix of the column's name. */
  #plain(p: string): string {
    const operator = this.#one('=', '<>', '<', '<=', '>', '>=')
    return this.#one(
      () => `${p}${this.#one('id', 'n', 'big')} ${operator} ${this.#integer()}`,
      () => `${this.#integer()} ${operator} ${p}n`,
      () => `${p}amount ${operator} ${this.#one('12.35', '24.7', '0', '-1.5', '100.000')}`,
      () => `${p}${this.#one('name', 'tag')} ${this.#one('=', '<>')} ${this.#text()}`,
      () => `${p}name ${this.#one('LIKE', 'NOT LIKE')} ${this.#one(`'a%'`, `'%a%'`, `'A'`, `'%'`, `'%ß%'`)}`,
      () => `${p}d ${operator} DATE '2026-02-0${this.#one<number>(1, 2, 3)}'`,
      () => `${p}seen ${operator} TIMESTAMP '2026-03-01 00:00:0${this.#one('0', '0.5', '1.5')}'`,
      () => `${p}b = ${this.#one('true', 'false')}`,
      () => `${p}${this.#one('n', 'amount', 'name', 'tag', 'b')} IS ${this.#one('', 'NOT ')}NULL`,
      () => `${p}n ${this.#one('', 'NOT ')}IN (${this.#integer()}, ${this.#integer()})`,
      () => `${p}name ${this.#one('', 'NOT ')}IN (${this.#text()}, ${this.#text()})`,
      () => `${p}n ${this.#one('', 'NOT ')}BETWEEN ${this.#integer()} AND ${this.#integer()}`,
      () => `${p}n % 3 = ${this.#one<number>(0, 1)}`,
      () => `length(${p}name) > ${this.#one<number>(0, 1, 2)}`,
    )()
  }

  #rich(p: string): string {
    const operator = this.#one('=', '<>', '<', '<=', '>', '>=')
    const equals = this.#one('=', '<>')
    return this.#one(
      () => `${p}ratio ${operator} ${this.#one('0', '0.5', '0.1', '-1', '1e300')}`,
      () => `${p}loose ${operator} ${this.#one('0', '1.25', '3')}`,
      () => `${p}moment ${operator} TIMESTAMPTZ '2026-03-01 0${this.#one<number>(0, 1, 2)}:00:00${this.#one('+00', '+02')}'`,
      () => `${p}key ${equals} '00000000-0000-0000-0000-00000000000${this.#one<number>(0, 1, 2)}'`,
      () => `${p}mood ${equals} ${this.#one(`'sad'`, `'ok'`)}`,
      () => `${p}padded ${equals} ${this.#one(`'ab'`, `'x'`, `''`)}`,
      () => `${p}small ${operator} ${this.#integer()}`,
      () => `${p}${this.#one('ratio', 'loose', 'moment', 'key', 'mood', 'padded')} IS ${this.#one('', 'NOT ')}NULL`,
    )()
  }

  #condition(p: string, depth = 0): string {
    if (depth > 2 || this.random() < 0.5) return this.isRich && this.random() < 0.4 ? this.#rich(p) : this.#plain(p)
    if (this.random() < 0.25) return `NOT (${this.#condition(p, depth + 1)})`
    return `(${this.#condition(p, depth + 1)} ${this.#one('AND', 'OR')} ${this.#condition(p, depth + 1)})`
  }

  #where(p = ''): string {
    return this.random() < 0.2 ? '' : ` WHERE ${this.#condition(p)}`
  }

  /** Conditions on the right table of a join, which must not come before a LEFT JOIN. */
  #ofRight(): string {
    const condition = this.#one(
      'u.word IS NULL',
      'u.word IS NOT NULL',
      'NOT (u.id > 20)',
      `u.word <> ${this.#text()}`,
      `u.t = ${this.#integer()}`,
    )
    return ` WHERE ${condition}${this.random() < 0.5 ? '' : ` AND ${this.#condition('t.')}`}`
  }

  statement(): string {
    return this.isRich && this.random() < 0.2 ? this.#richStatement() : this.#statement()
  }

  #richStatement(): string {
    const counts = 'count(*), count(ratio), min(moment) IS NULL, max(loose), count(DISTINCT mood), min(small)'
    const group = this.#one('key', 'mood', 'small', 'loose')
    const pair = this.#one(
      'o.key = t.key AND t.small = o.n',
      'o.seen = t.seen',
      'o.moment = t.moment AND o.amount = t.amount',
      'o.name = t.name',
    )
    const mood = this.#one('t.mood', 'o.mood')
    const ordered = `t.${this.#one('n', 'amount', 'd', 'seen', 'moment', 'small', 'loose', 'ratio', 'b')} ${this.#one('ASC', 'DESC')} NULLS ${this.#one('FIRST', 'LAST')}`
    return this.#one(
      // These aliases are for the columns id, n and big.
      () =>
        `SELECT CAST(x.third AS varchar), x.second FROM {t} AS x(first, second, third) WHERE second ${this.#one('>', '<>')} ${this.#integer()} ORDER BY first`,
      () => `SELECT count(*), CAST(max(x.big) AS varchar) FROM {t} AS x(first) WHERE n > ${this.#integer()}`,
      () => `SELECT id, ratio > 0.5, loose, CAST(key AS varchar), mood, rtrim(padded), small FROM {t}${this.#where()} ORDER BY id`,
      () => `SELECT id, small FROM {t} AS t${this.#where('t.')} ORDER BY ${ordered}, t.id LIMIT ${this.#one<number>(1, 9)}`,
      () => `SELECT ${counts} FROM {t}${this.#where()}`,
      () =>
        `SELECT ${mood}, count(*), count(DISTINCT o.key), max(o.moment) IS NULL FROM {t} AS t ${this.#one('', 'LEFT ')}JOIN {t} AS o ON ${pair}${this.#where(this.#one('t.', 'o.'))} GROUP BY 1 ORDER BY count(*), min(t.id), min(o.id)`,
      () => `SELECT ${group}, count(*), sum(small) FROM {t}${this.#where()} GROUP BY ${group} ORDER BY count(*), min(id)`,
    )()
  }

  #statement(): string {
    const counts = 'count(*), count(name), sum(n), min(d), max(amount), sum(amount), CAST(max(seen) AS varchar), CAST(sum(big) AS varchar)'
    const group = this.#one('n', 'tag', 'b', 'd', 'name')
    const joined =
      'count(*), count(u.word), count(DISTINCT t.tag), sum(t.n), min(t.d), sum(t.amount), CAST(sum(t.big) AS varchar), count(DISTINCT u.t)'
    const order = 'ORDER BY count(*), min(t.id), min(u.id)'
    return this.#one(
      () => `SELECT id, n, CAST(big AS varchar), amount, name, tag, d, CAST(seen AS varchar), b FROM {t}${this.#where()} ORDER BY id`,
      () =>
        `SELECT t.name FROM {t} AS t${this.#where('t.')} ORDER BY t.id LIMIT ${this.#one<number>(0, 1, 5)} OFFSET ${this.#one<number>(0, 2)}`,
      // Only one row has the same id, so the rows of a LIMIT are the same in both databases.
      () =>
        `SELECT id, CAST(big AS varchar) FROM {t}${this.#where()} ORDER BY ${this.#one('', 'id % 3, ')}id ${this.#one('ASC', 'DESC')} LIMIT ${this.#one<number>(1, 6)} OFFSET ${this.#one<number>(0, 3)}`,
      () => `SELECT count(*) FROM (SELECT id FROM {t}${this.#where()} LIMIT ${this.#one<number>(1, 7, 50)}) AS q`,
      () => `SELECT ${counts} FROM {t}${this.#where()}`,
      () => `SELECT ${group}, ${counts} FROM {t}${this.#where()} GROUP BY ${group} ORDER BY count(*), min(id)`,
      () => `SELECT ${group}, count(*) FROM {t}${this.#where()} GROUP BY 1 HAVING count(*) > ${this.#one<number>(1, 3)} ORDER BY min(id)`,
      () =>
        `SELECT ${this.#one('t.tag', 'u.word', 't.n', 't.name', 'u.t')}, ${joined} FROM {t} AS t ${this.#one('', 'LEFT ')}JOIN {u} AS u ON ${this.#one('u.t = t.id', 't.name = u.word', 'u.t = t.n')}${this.random() < 0.5 ? this.#where('t.') : this.#ofRight()} GROUP BY 1 ${order}`,
      () => `SELECT ${joined} FROM {u} AS u, {t} AS t WHERE t.id = u.t AND ${this.#condition('t.')} AND u.word <> ${this.#text()}`,
      () => `SELECT DISTINCT tag, b FROM {t}${this.#where()} ORDER BY 1 NULLS LAST, 2 NULLS LAST`,
      () => `SELECT t.id, u.id FROM {t} AS t JOIN {u} AS u ON u.t = t.id${this.#where('t.')} ORDER BY 1, 2`,
      () =>
        `SELECT t.id, u.word FROM {t} AS t LEFT JOIN {u} AS u ON u.t = t.id AND u.id > ${this.#integer()} WHERE ${this.#condition('t.')} ORDER BY t.id, u.id`,
      () => `SELECT u.id, t.name FROM {t} AS t RIGHT JOIN {u} AS u ON u.t = t.id WHERE u.id > 20 OR t.id IS NULL ORDER BY 1, t.id`,
      () => `SELECT count(*) FROM {u} AS u WHERE EXISTS (SELECT 1 FROM {t} AS t WHERE t.id = u.t AND ${this.#condition('t.')})`,
      () => `SELECT sum(n) FROM (SELECT n FROM {t}${this.#where()} UNION ALL SELECT t FROM {u} WHERE id < 10) AS q`,
    )()
  }
}

const asText = (cell: unknown): string | null => {
  if (cell === null || cell === undefined) return null
  if (typeof cell === 'boolean') return cell ? 't' : 'f'
  return typeof cell === 'string' ? cell : JSON.stringify(cell)
}

/** Numbers of any type are compared by value, times by their digits. */
export const comparable = (rows: readonly (readonly unknown[])[]) =>
  rows.map((row) =>
    row.map((cell) =>
      asText(cell)?.replace(/^(-?\d+)\.(\d*?)0*$/, (_, whole: string, digits: string) => (digits === '' ? whole : `${whole}.${digits}`)),
    ),
  )

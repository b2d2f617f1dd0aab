/** One series of a scrape: a name, its labels, a value. */
export type Sample = { name: string; labels: Record<string, string>; value: number }
export type Family = { type: string; help: string; samples: Sample[] }

const name = /^[a-zA-Z_:][a-zA-Z0-9_:]*$/
const sampleLine = /^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? (NaN|[+-]Inf|[+-]?[0-9][0-9.e+-]*)$/
const label = /^([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\["\\n])*)"(?:,|$)/

const labelsOf = (text: string): Record<string, string> => {
  const labels: Record<string, string> = {}
  for (let rest = text; rest !== '';) {
    const found = label.exec(rest)
    const [whole = '', key = '', value = ''] = found ?? []
    if (!found || key in labels) throw new Error(`not a list of labels: ${text}`)
    labels[key] = value.replaceAll(/\\(["\\n])/g, (_, c: string) => (c === 'n' ? '\n' : c))
    rest = rest.slice(whole.length)
  }
  return labels
}

const numberOf = (text: string): number => (text === '+Inf' ? Infinity : text === '-Inf' ? -Infinity : Number(text))

/** The metric family of a series: the series of a histogram have suffixes. */
const familyOf = (series: string, families: ReadonlyMap<string, Family>): Family => {
  const own = families.get(series)
  if (own) return own
  const base = series.replace(/_(bucket|sum|count)$/, '')
  const histogram = families.get(base)
  if (histogram?.type !== 'histogram') throw new Error(`${series} has no # TYPE before it`)
  return histogram
}

/** Reads a scrape by the rules of the text format 0.0.4, and refuses everything that breaks them. */
export const parseExposition = (text: string): Map<string, Family> => {
  if (!text.endsWith('\n')) throw new Error('the last line must end with a line feed')
  const families = new Map<string, Family>()
  const seen = new Set<string>()
  let help: { name: string; text: string } | undefined
  for (const line of text.split('\n')) {
    if (line === '') continue
    const [, kind, subject = '', rest = ''] = /^# (HELP|TYPE) (\S+) (.*)$/.exec(line) ?? []
    if (kind !== undefined && !name.test(subject)) throw new Error(`not a name: ${subject}`)
    if (kind === 'HELP') help = { name: subject, text: rest }
    else if (kind === 'TYPE') {
      if (families.has(subject)) throw new Error(`${subject} has two # TYPE`)
      if (!['counter', 'gauge', 'histogram', 'summary', 'untyped'].includes(rest)) throw new Error(`no type: ${rest}`)
      if (help?.name !== subject || help.text === '') throw new Error(`${subject} has no # HELP`)
      families.set(subject, { type: rest, help: help.text, samples: [] })
    } else {
      const [, series, labels = '', value] = sampleLine.exec(line) ?? []
      if (series === undefined || value === undefined) throw new Error(`not a line of the format: ${line}`)
      const sample = { name: series, labels: labelsOf(labels), value: numberOf(value) }
      const key = `${series} ${JSON.stringify(Object.entries(sample.labels).sort())}`
      if (seen.has(key)) throw new Error(`a series twice: ${line}`)
      seen.add(key)
      familyOf(series, families).samples.push(sample)
    }
  }
  for (const [family, { type, samples }] of families) if (type === 'histogram') checkHistogram(family, samples)
  return families
}

/** Checks that the buckets grow, and that the last is +Inf and equals `_count`. */
const checkHistogram = (family: string, samples: readonly Sample[]): void => {
  const groups = new Map<string, { buckets: [number, number][]; sum?: number; count?: number }>()
  for (const { name: series, labels, value } of samples) {
    const { le, ...rest } = labels
    const key = JSON.stringify(Object.entries(rest).sort())
    const group = groups.get(key) ?? { buckets: [] }
    groups.set(key, group)
    if (series === `${family}_bucket`) group.buckets.push([numberOf(le ?? 'none'), value])
    else if (series === `${family}_sum`) group.sum = value
    else if (series === `${family}_count`) group.count = value
    else throw new Error(`${series} is no part of a histogram`)
  }
  for (const [key, { buckets, sum, count }] of groups) {
    const grows = buckets.every(([le, n], i) => i === 0 || (le > (buckets[i - 1]?.[0] ?? 0) && n >= (buckets[i - 1]?.[1] ?? 0)))
    const [last, all] = buckets.at(-1) ?? []
    if (!grows || last !== Infinity || all !== count || sum === undefined || (count === 0 && sum !== 0))
      throw new Error(`the histogram ${family} ${key} does not add up`)
  }
}

const unitsMs: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 }

/** The duration in a setting, `90s`, `15m`, `1h` or `30d`, in milliseconds; NaN for anything else. */
export const durationMs = (text: string): number => {
  const [, count = '', unit = ''] = /^(\d{1,9})([smhd])$/.exec(text) ?? []
  return Number(count || NaN) * (unitsMs[unit] ?? NaN)
}

const unitsBytes: Readonly<Record<string, number>> = { MiB: 2 ** 20, GiB: 2 ** 30, TiB: 2 ** 40 }

/** The size in a setting, `500MiB`, `20GiB` or `2TiB`, in bytes; NaN for anything else. */
export const sizeBytes = (text: string): number => {
  const [, count = '', unit = ''] = /^(\d{1,6})([MGT]iB)$/.exec(text) ?? []
  return Number(count || NaN) * (unitsBytes[unit] ?? NaN)
}

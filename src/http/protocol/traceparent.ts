const known = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/
const sampled = 0x01

/**
 * The `traceparent` of W3C Trace Context that a request stands in; undefined when the header is missing or invalid, which is
 * ignored as the standard says. Of a version that is newer than the standard's 00 what 00 knows is kept, as 00.
 *
 * @example readTraceparent('00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01')
 */
export const readTraceparent = (value: string | undefined): string | undefined => {
  const [, version, trace = '', parent = '', flags = '', more] = known.exec(value?.trim() ?? '') ?? []
  if (version === undefined || version === 'ff' || /^0+$/.test(trace) || /^0+$/.test(parent)) return undefined
  if (version === '00') return more === undefined ? `00-${trace}-${parent}-${flags}` : undefined
  return `00-${trace}-${parent}-0${parseInt(flags, 16) & sampled}`
}

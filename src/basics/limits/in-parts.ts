/**
 * Items in parts of a bounded number and size, in their order. A single item may be larger than a part. The unit of the sizes is that of
 * `maxSize`.
 *
 * @example [...inParts(['a', 'bcd', 'e'], (text) => text.length, { maxItems: 2, maxSize: 3 })] // [['a'], ['bcd'], ['e']]
 */
export function* inParts<Item>(
  items: Iterable<Item>,
  sizeOf: (item: Item) => number,
  { maxItems, maxSize }: { maxItems: number; maxSize: number },
): Generator<Item[], void> {
  let part: Item[] = []
  let size = 0
  for (const item of items) {
    const more = sizeOf(item)
    if (part.length === maxItems || (part.length > 0 && size + more > maxSize)) {
      yield part
      part = []
      size = 0
    }
    part.push(item)
    size += more
  }
  if (part.length > 0) yield part
}

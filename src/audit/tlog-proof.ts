/**
 * An inclusion proof as one text for offline checks, in C2SP's tlog-proof format: the leaf's index, the hashes up to the root, and
 * the signed checkpoint.
 */
export const tlogProof = (index: number, hashes: readonly Buffer[], checkpoint: string): string =>
  ['c2sp.org/tlog-proof@v1', `index ${index}`, ...hashes.map((hash) => hash.toString('base64')), '', checkpoint].join('\n')

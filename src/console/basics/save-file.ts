/** The time for the browser to begin its download, in ms. */
const beginMs = 10_000

/** Saves bytes as a file on the user's machine. @example saveFile(new Blob(['a,b']), 'rows.csv') */
export const saveFile = (blob: Blob, name: string): void => {
  const url = URL.createObjectURL(blob)
  Object.assign(document.createElement('a'), { href: url, download: name }).click()
  setTimeout(() => URL.revokeObjectURL(url), beginMs)
}

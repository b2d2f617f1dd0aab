import { mask } from '../../../basics/secrets.js'

/** The characters before a mask by which its place is known. */
const aroundChars = 40
/** The most places that are listed. */
const shownMax = 5

/** The places of the mask in a text: the number of the line, and what stands around it. */
const placesIn = (sql: string): { line: number; text: string }[] =>
  sql.split('\n').flatMap((line, i) => {
    const parts = line.split(mask)
    return parts.slice(1).map((after, n) => ({
      line: i + 1,
      text: `${(parts[n] ?? '').slice(-aroundChars)}${mask}${after.slice(0, 1)}`.trim(),
    }))
  })

/** Why no statement runs whose secrets were not kept. */
export const notKept = `A secret of this statement was not kept. Type it again where ${mask} is.`

/** Says which texts of a statement were not kept: with the mask in their place it would write the mask. */
export const NotKept = ({ sql, isMeant }: { sql: string; isMeant: () => void }) => {
  const places = placesIn(sql)
  return (
    <div class="notice" role="status">
      <p>
        Secrets are kept neither in the browser nor in an address. Type them again where {mask} is; until then the statement does not run.
      </p>
      {places.slice(0, shownMax).map(({ line, text }, i) => (
        <p key={i}>
          <span class="quiet">line {line}:</span> <code>{text}</code>
        </p>
      ))}
      {places.length > shownMax && <p class="quiet">The first {shownMax} places are shown.</p>}
      <button type="button" onClick={isMeant}>
        I mean {mask}
      </button>
    </div>
  )
}

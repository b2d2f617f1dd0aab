import type { Draft } from '../basics/drafts.js'
import { mask } from '../basics/secrets.js'

/** `missing` says what is not kept besides the secrets in the texts. */
type Props = { draft: Draft; isOutdated?: boolean; missing?: string; discard: () => void }

/** Says that a form has what was typed before, and what is missing of it. */
export const Restored = ({ draft, isOutdated = false, missing, discard }: Props) => (
  <div class="notice" role="status">
    <p>What you typed before is here again.</p>
    {isOutdated && <p>It was changed since then: what you send takes the place of the newest values.</p>}
    {Object.values(draft.texts).some((text) => text.includes(mask)) && (
      <p>Secrets are not kept in the browser: type them again where {mask} is.</p>
    )}
    {missing !== undefined && <p>{missing}</p>}
    <button type="button" onClick={discard}>
      Discard it
    </button>
  </div>
)

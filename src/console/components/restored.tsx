import type { Draft } from '../basics/drafts.js'

/** Says that a form has what was typed before, and what is missing of it. */
export const Restored = ({ draft, isOutdated = false, discard }: { draft: Draft; isOutdated?: boolean; discard: () => void }) => (
  <div class="notice" role="status">
    <p>What you typed before is here again.</p>
    {isOutdated && <p>It was changed since then: what you send takes the place of the newest values.</p>}
    {draft.hadSecrets && <p>Secrets are not kept in the browser: type them again where ****** is.</p>}
    <button type="button" onClick={discard}>
      Discard it
    </button>
  </div>
)

import { chosen, closeSheet, nameOf, sheets, sheetsMax, shownSheet, type Sheet } from './sheets.js'

/** The statements in progress; one of them is shown. */
export const SheetList = ({ show, add }: { show: (sheet: Sheet) => void; add: () => void }) => (
  <div class="sheets" role="group" aria-label="Statements">
    {sheets.value.map((sheet) => (
      <span key={sheet.id} class="sheet">
        <button
          type="button"
          aria-pressed={sheet.id === chosen.value}
          title={sheet.sql}
          onClick={() => sheet.id !== chosen.value && show(sheet)}
        >
          {nameOf(sheet)}
        </button>
        {sheets.value.length > 1 && (
          <button
            type="button"
            aria-label={`Close ${nameOf(sheet)}`}
            onClick={() => {
              const isShown = sheet.id === chosen.value
              closeSheet(sheet.id)
              if (isShown) show(shownSheet())
            }}
          >
            ×
          </button>
        )}
      </span>
    ))}
    {sheets.value.length < sheetsMax && (
      <button type="button" class="plain" aria-label="New statement" title="New statement" onClick={add}>
        +
      </button>
    )}
  </div>
)

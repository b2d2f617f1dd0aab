const maxFindings = 20

/** Findings as sentences, up to a readable number. */
export class Findings {
  readonly sentences: string[] = []

  /** Notes a finding. After the last one that is shown, one line says that there are more. */
  add(sentence: string): void {
    if (this.sentences.length < maxFindings) this.sentences.push(sentence)
    else if (this.sentences.length === maxFindings) this.sentences.push('... and more')
  }
}

const maxFindings = 20

/** Sentences, up to the number that anybody reads. */
export class Findings {
  readonly sentences: string[] = []

  /** Notes a finding. After the most that are shown, one line says that there are more. */
  add(sentence: string): void {
    if (this.sentences.length < maxFindings) this.sentences.push(sentence)
    else if (this.sentences.length === maxFindings) this.sentences.push('... and more')
  }
}

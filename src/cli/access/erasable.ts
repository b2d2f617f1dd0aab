/** What `erase` takes, as its help and its refusal show it. */
export const erasable = `  prediction <position>   answer <id or position>   conversation <id>   request <id>   file <name>
  matrix <project>.<model>.<version>   secrets <kind> [<project>.]<name>   documents <project>.<knowledge base> [id]   before <time>`

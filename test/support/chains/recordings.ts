import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** A recorded exchange of the official suite. */
export interface Recording {
  name: string
  /** True: only the kind of the answer is to be compared. */
  kindOnly: boolean
  exchanges: { request: { method: string; params?: unknown[] }; expected: RecordedAnswer }[]
}

export interface RecordedAnswer {
  result?: unknown
  error?: { code: number; message: string; data?: string }
}

/** The `.io` recordings of one method. */
export function readRecordings(folder: string, method: string): Recording[] {
  return readdirSync(join(folder, method)).map((file) => {
    const text = readFileSync(join(folder, method, file), 'utf8')
    const exchanges: Recording['exchanges'] = []
    let request: Recording['exchanges'][0]['request'] | undefined
    for (const line of text.split('\n')) {
      if (line.startsWith('>> ')) request = JSON.parse(line.slice(3))
      else if (line.startsWith('<< ')) exchanges.push({ request: request!, expected: JSON.parse(line.slice(3)) })
    }
    return { name: `${method}/${file}`, kindOnly: /^\/\/\s*speconly/m.test(text), exchanges }
  })
}

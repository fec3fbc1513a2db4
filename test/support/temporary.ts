import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A directory of the test's own, removed when the test ends; with `{ after }` of node:test, when the file's tests
 *  end. */
export function temporaryDirectory(t: { after(callback: () => void): void }): string {
  const directory = mkdtempSync(join(tmpdir(), 'cairn-test-'))
  t.after(() => rmSync(directory, { recursive: true, force: true }))
  return directory
}

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'

/** A directory of the test's own, removed when the test ends. */
export function temporaryDirectory(t: Pick<TestContext, 'after'>): string {
  const directory = mkdtempSync(join(tmpdir(), 'cairn-test-'))
  t.after(() => rmSync(directory, { recursive: true, force: true }))
  return directory
}

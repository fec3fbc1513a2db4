import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { packagePath } from '../../src/store/open.js'

/** Names of the phases that `bench/NAME/index.ts` lists. */
function phasesOf(bench: string): string[] {
  const text = readFileSync(join(packagePath('bench'), bench, 'index.ts'), 'utf8')
  const [, indent, phases] = /^( +)phases: \{$(.*)/ms.exec(text)!
  return [...phases.matchAll(new RegExp(`^${indent}  (\\w+): \\{`, 'gm'))].map(([, name]) => name)
}

for (const bench of ['logs', 'evm', 'sync', 'replica']) {
  test(`each phase of bench:${bench} is described and has a short run`, () => {
    const readme = readFileSync(packagePath('bench/README.md'), 'utf8')
    const rows = readme.split('\n').filter((line) => line.startsWith('|'))
    const start = rows.findIndex((row) => row.startsWith(`| ${bench} |`))
    const own = rows.slice(start).filter((row, i) => i === 0 || row.startsWith('| |'))
    const shortRuns = readFileSync(packagePath(`test/bench/${bench}.long.test.ts`), 'utf8')
    const phases = phasesOf(bench)
    assert.ok(phases.length >= 4, phases.join())
    for (const phase of phases) {
      assert.ok(
        own.some((row) => row.split('|')[2].replace('*', '').trim() === phase),
        `bench/README.md: ${phase}`,
      )
      assert.ok(shortRuns.includes(`'${phase}'`), `test/bench/${bench}.long.test.ts: ${phase}`)
    }
  })
}

import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { test } from 'node:test'
import { promisify } from 'node:util'

const MODULE = new URL('../../src/store/freedMemory.js', import.meta.url).href

// Buffers below the size that glibc maps by itself: most are freed, and one in fifty stays, as cached responses do.
const PROGRAM = `
import { readFileSync } from 'node:fs'
import { returnFreedMemory } from '${MODULE}'
const anonymousMb = () => Number(/Anonymous:\\s+(\\d+)/.exec(readFileSync('/proc/self/smaps_rollup', 'utf8'))[1]) / 1024
let all = Array.from({ length: 4000 }, () => Buffer.alloc(65_536, 1))
const kept = all.filter((_, i) => i % 50 === 0)
all = undefined
for (let i = 0; i < 3; i++) {
  gc()
  await new Promise((resolve) => setTimeout(resolve, 50))
}
const before = anonymousMb()
const isReturned = returnFreedMemory()
const intact = kept.every((each) => each.every((byte) => byte === 1))
console.log(JSON.stringify({ before, after: anonymousMb(), isReturned, intact }))
`

/** True where the C library is glibc. */
function hasGlibc(): boolean {
  const { header } = process.report.getReport() as { header: { glibcVersionRuntime?: string } }
  return process.platform === 'linux' && header.glibcVersionRuntime !== undefined
}

test('freed memory between what is in use goes back to the system, and nothing else is lost', {
  skip: hasGlibc() ? false : 'the C library is not glibc',
}, async () => {
  const args = ['--expose-gc', '--input-type=module', '-e', PROGRAM]
  const { stdout, stderr } = await promisify(execFile)(process.execPath, args)
  assert.equal(stderr, '')
  const { before, after, isReturned, intact } = JSON.parse(stdout)
  assert.equal(isReturned, true)
  assert.ok(after < before - 150, `${before} MB before, ${after} after`)
  assert.equal(intact, true)
})

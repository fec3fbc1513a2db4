import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { readKeysFile } from '../../src/cli/keysFile.js'
import { UsageError } from '../../src/lib/errors.js'
import { temporaryDirectory } from '../support/temporary.js'

const KEY = { name: 'dashboard', sha256: 'ab'.repeat(32), createdAt: 1_700_000_000 }

test('a file of keys is taken member for member, or refused with the member named', (t) => {
  const path = join(temporaryDirectory(t), 'keys.json')
  const read = (content: string) => {
    writeFileSync(path, content)
    return readKeysFile(path)
  }
  const whole = { ...KEY, revokedAt: 1_700_000_001, rateRps: 5, maxConcurrent: 2, methods: ['eth_*', '!eth_call'] }
  const other = { ...KEY, sha256: 'cd'.repeat(32) }
  assert.deepEqual(read(JSON.stringify([whole, other])), [whole, other])
  assert.deepEqual(read('[]'), [])
  const refused = (content: string, problem: RegExp) =>
    assert.throws(
      () => read(content),
      (error) => error instanceof UsageError && problem.test(error.message),
      content,
    )
  refused('[', /keys import \S+keys.json: expected JSON/)
  refused('{}', /expected the array that 'cairn keys export' writes/)
  refused('[7]', /: \[0\]: expected an object, got 7/)
  refused(JSON.stringify([KEY, KEY]), /\[1\].sha256: expected each key once/)
  const wrong: [object, RegExp][] = [
    [{ name: ' ' }, /\[0\].name: expected 1 to 100 printable characters, got " "/],
    [{ name: 'x'.repeat(101) }, /\[0\].name: expected 1 to 100/],
    [{ sha256: 'AB'.repeat(32) }, /\[0\].sha256: expected 64 hex digits/],
    [{ createdAt: '1' }, /\[0\].createdAt: expected a whole number of 1 to \d+, got "1"/],
    [{ revokedAt: 0 }, /\[0\].revokedAt: expected a whole number/],
    [{ rateRps: 1e9 }, /\[0\].rateRps: expected a whole number of 1 to 1000000, got 1000000000/],
    [{ maxConcurrent: 1.5 }, /\[0\].maxConcurrent: expected a whole number/],
    [{ methods: [] }, /\[0\].methods: expected names of methods such as/],
    [{ methods: ['eth call'] }, /\[0\].methods: expected names of methods/],
    [{ key: 'secret' }, /\[0\]: expected no member 'key'/],
  ]
  for (const [change, problem] of wrong) refused(JSON.stringify([{ ...KEY, ...change }]), problem)
  assert.throws(() => readKeysFile(`${path}.none`), /keys import \S+none: ENOENT/)
})

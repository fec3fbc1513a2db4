import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { UsageError } from '../../src/lib/errors.js'
import { readOptionText } from '../../src/lib/optionFile.js'
import { spawnProgram } from '../support/cairn.js'
import { temporaryDirectory } from '../support/temporary.js'

const refusal = (message: RegExp) => (error: unknown) => error instanceof UsageError && message.test(error.message)

test('a file of an option is read up to its limit', (t) => {
  const path = join(temporaryDirectory(t), 'secret')
  writeFileSync(path, 'a'.repeat(100))
  assert.equal(readOptionText('--jwt-secret', path, 100), 'a'.repeat(100))
  assert.throws(
    () => readOptionText('--jwt-secret', path, 99),
    refusal(/^--jwt-secret .*secret: expected at most 99 bytes, got more$/),
  )
  assert.throws(() => readOptionText('--jwt-secret', `${path}2`, 99), refusal(/^--jwt-secret .*secret2: ENOENT/))
  writeFileSync(path, '')
  assert.equal(readOptionText('--jwt-secret', path, 99).length, 0)
})

test('a file without an end is refused', { skip: !existsSync('/dev/zero') && 'no /dev/zero' }, () => {
  assert.throws(
    () => readOptionText('--nats-ca', '/dev/zero', 10_000),
    refusal(/expected at most 10000 bytes, got more/),
  )
})

test('a pipe is read to its end', { skip: process.platform === 'win32' && 'no pipes with names' }, async (t) => {
  const path = join(temporaryDirectory(t), 'pipe')
  assert.equal(spawnSync('mkfifo', [path]).status, 0)
  const writer = spawnProgram('sh', ['-c', `{ printf one; sleep 0.05; printf two; } > ${path}`])
  assert.equal(readOptionText('--sink-secret', path, 100), 'onetwo')
  await writer.ended
})

import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { readCursorSecretFile } from '../../src/cli/cursorSecret.js'
import { UsageError } from '../../src/lib/errors.js'
import { temporaryDirectory } from '../support/temporary.js'

test('the secret of cursors is that of the file, whatever ends its line', (t) => {
  const folder = temporaryDirectory(t)
  const path = join(folder, 'secret')
  const read = (content: string | Uint8Array) => {
    writeFileSync(path, content)
    return Buffer.from(readCursorSecretFile(path)).toString('hex')
  }
  const text = 'ab'.repeat(16)
  const secret = read(text)
  assert.match(secret, /^[0-9a-f]{64}$/)
  assert.equal(read(`${text}\n`), secret)
  assert.equal(read(`${text}\r\n`), secret)
  assert.notEqual(read(`${text}a`), secret)
  assert.notEqual(read(new Uint8Array(32).fill(200)), read(new Uint8Array(32).fill(201)))
  const refused = (content: string, message: RegExp) => {
    assert.throws(
      () => read(content),
      (error) =>
        error instanceof UsageError &&
        message.test(error.message) &&
        (content === '' || !error.message.includes(content)),
    )
  }
  refused('secret-of-too-few-bytes', /^--cursor-secret-file \S+: expected at least 32 bytes, got 23; make one with/)
  refused('', /expected at least 32 bytes, got 0/)
  refused('x'.repeat(4097), /expected at most 4096 bytes, got more/)
  assert.equal(read('x'.repeat(4096)).length, 64)
  assert.throws(() => readCursorSecretFile(join(folder, 'none')), /--cursor-secret-file \S+none: ENOENT/)
  assert.throws(() => readCursorSecretFile(folder), /--cursor-secret-file \S+: EISDIR/)
})

import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { test } from 'node:test'
import { createPrecompileTable, NO_CURVES } from '../../../../src/evm/interpreter/precompiles/precompileTable.js'
import { noDeadline } from '../../../../src/lib/deadline.js'
import { rulesOf } from '../../../support/chains/forks.js'
import { seededRandom } from '../../../support/random.js'

const table = createPrecompileTable(rulesOf('frontier'), NO_CURVES)

test('the SHA-256 and RIPEMD-160 precompiles equal OpenSSL at every length up to three blocks', () => {
  const memory = seededRandom(71).bytes(1000)
  for (let length = 0; length <= 3 * 64; length++) {
    const input = memory.subarray(100, 100 + length)
    const hex = (address: number) => Buffer.from(table[address]!.run(input, noDeadline)!).toString('hex')
    assert.equal(hex(2), hash('sha256', input))
    assert.equal(hex(3), hash('ripemd160', input).padStart(64, '0'))
  }
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { InvalidValue, RpcError } from '../../../src/rpc/core/errors.js'
import { logFilterParam } from '../../../src/rpc/eth/logFilter.js'

const hash = (digit: string) => `0x${digit.repeat(64)}`
const bytes = (digit: string, length: number) => new Uint8Array(Buffer.from(digit.repeat(length * 2), 'hex'))
const decode = (value: unknown) => logFilterParam.decode(value, '')

test('reads one address or a list, and takes null and nothing for any', () => {
  const address = `0x${'a'.repeat(40)}`
  assert.deepEqual(decode({ address }).addresses, [bytes('a', 20)])
  assert.deepEqual(decode({ address: [address] }).addresses, [bytes('a', 20)])
  for (const any of [{}, { address: null }, { address: [] }]) assert.deepEqual(decode(any).addresses, [])
})

test('reads topics by position: a value, a list, null, and a list with a null as any', () => {
  const topics = [hash('1'), [hash('2'), hash('3')], null, [hash('4'), null]]
  assert.deepEqual(decode({ topics }).topics, [[bytes('1', 32)], [bytes('2', 32), bytes('3', 32)], null, null])
  assert.deepEqual(decode({ topics: [[], null] }).topics, [null, null])
})

test('reads both spellings of blockHash', () => {
  assert.deepEqual(decode({ blockHash: hash('1') }).blockHash, bytes('1', 32))
  assert.deepEqual(decode({ blockhash: hash('1') }).blockHash, bytes('1', 32))
  assert.throws(() => decode({ blockHash: hash('1'), blockhash: hash('2') }), InvalidValue)
})

test('refuses blockHash with a bound, in the words of the suite', () => {
  const message = 'cannot specify both BlockHash and FromBlock/ToBlock, choose one or the other'
  assert.throws(() => decode({ blockHash: hash('1'), toBlock: 'latest' }), { message })
  assert.deepEqual(decode({ blockHash: hash('1'), toBlock: null }).toBlock, undefined)
})

test('names the place of a bad value', () => {
  assert.throws(() => decode({ topics: [null, ['0x12']] }), /^InvalidValue: filter\.topics\[1\]\[0\]: .*"0x12"/)
  assert.throws(() => decode({ address: 5 }), /^InvalidValue: filter\.address: /)
  assert.throws(() => decode({ fromBlock: 5 }), /^InvalidValue: filter\.fromBlock: /)
})

test('refuses a fifth topic position', () => {
  assert.throws(
    () => decode({ topics: Array(5).fill(null) }),
    (error) => error instanceof RpcError && error.message === 'exceed max topics',
  )
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { buildFilter, EMPTY_FORM, eventOf, type FilterForm, KNOWN_EVENTS, WrongField } from '../../src/web/logFilter.js'
import { TOKEN } from '../support/chains/fixtureChain.js'

const TRANSFER = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'

const build = (form: Partial<FilterForm>) => buildFilter({ ...EMPTY_FORM, ...form })

test('an empty form asks for the whole chain', () => {
  assert.deepEqual(build({}), { fromBlock: 'earliest', toBlock: 'latest' })
})

test('bounds are decimal or hex numbers, or tags', () => {
  assert.deepEqual(build({ from: '1,000', to: '0x10' }), { fromBlock: '0x3e8', toBlock: '0x10' })
  assert.deepEqual(build({ from: 'safe', to: 'finalized' }), { fromBlock: 'safe', toBlock: 'finalized' })
  const blockHash = `0x${'12'.repeat(32)}`
  assert.deepEqual(build({ blockHash }), { blockHash })
})

test('addresses are one or a list, in lower case', () => {
  const other = `0x${'AB'.repeat(20)}`
  assert.equal(build({ address: ` ${TOKEN} ` }).address, TOKEN)
  assert.deepEqual(build({ address: `${TOKEN}, ${other}` }).address, [TOKEN, other.toLowerCase()])
})

test('events are given by name, by signature or by topic', () => {
  const written = ['Transfer', 'Transfer(address,address,uint256)', 'Transfer(address, address, uint256)', TRANSFER]
  for (const topic0 of written) assert.deepEqual(build({ topic0 }).topics, [TRANSFER], topic0)
  assert.equal((build({ topic0: 'Transfer Approval(address,address,uint256)' }).topics![0] as string[]).length, 2)
  assert.equal(eventOf(TRANSFER), 'Transfer(address,address,uint256)')
  assert.equal(eventOf(undefined), undefined)
  assert.equal(new Set(KNOWN_EVENTS.map((event) => JSON.stringify(build({ topic0: event })))).size, KNOWN_EVENTS.length)
})

test('topics are padded, and positions without values are null up to the last with one', () => {
  const { topics } = build({ topic1: TOKEN, topic3: '255' })
  assert.deepEqual(topics, [null, `0x${'0'.repeat(24)}${TOKEN.slice(2)}`, null, `0x${'0'.repeat(62)}ff`])
  assert.equal((build({ topic2: '1 2' }).topics![2] as string[]).length, 2)
})

test('a field that cannot be understood is named', () => {
  const wrong: Partial<FilterForm>[] = [
    { address: '0x12' },
    { from: 'soon' },
    { to: '-1' },
    { blockHash: '0x12' },
    { topic0: 'NoSuchEvent' },
    { topic1: '0x12' },
    { topic2: `${2n ** 256n}` },
  ]
  for (const form of wrong) {
    const [field] = Object.keys(form)
    assert.throws(
      () => build(form),
      (error) => error instanceof WrongField && error.field === field,
      field,
    )
  }
  const both = { blockHash: `0x${'12'.repeat(32)}`, from: '1' }
  assert.throws(() => build(both), /not both/)
})

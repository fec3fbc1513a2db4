import assert from 'node:assert/strict'
import { test } from 'node:test'
import { buildLongChain } from '../support/chains/longChain.js'
import { answerAll, listAsks } from '../support/compare/allAnswers.js'
import { chooseCorruptions, corrupt } from '../support/compare/corruption.js'
import { findFault } from '../support/compare/findFault.js'
import { seededRandom } from '../support/random.js'
import { temporaryDirectory } from '../support/temporary.js'
import { THOROUGH } from '../support/thorough.js'

const HEAD = THOROUGH ? 500 : 120
const CORRUPTIONS = THOROUGH ? 200 : 4
const SEED = 1

test(`an audit finds every one of ${CORRUPTIONS} corrupted bytes that changes an answer`, async (t) => {
  const whole = temporaryDirectory(t)
  const keys = await buildLongChain(whole, HEAD)
  assert.equal(findFault(whole), undefined)
  const asks = listAsks(whole)
  const answers = await answerAll(whole, asks, keys)
  let found = 0
  for (const corruption of chooseCorruptions(whole, seededRandom(SEED), CORRUPTIONS)) {
    const damaged = temporaryDirectory(t)
    corrupt(whole, damaged, corruption)
    if (findFault(damaged) !== undefined) {
      found++
      continue
    }
    // Nothing was found, so nothing may be different.
    const now = await answerAll(damaged, asks, keys)
    const at = now.findIndex((answer, i) => answer !== answers[i])
    const { of, offset, mask } = corruption
    const place = `byte ${offset} (${of}) xor ${mask}`
    assert.equal(at, -1, `${place} is not found and changes ${JSON.stringify(asks[at] ?? 'the keys')}`)
  }
  assert.ok(found >= CORRUPTIONS / 2, `only ${found} were found: do the places hold anything?`)
})

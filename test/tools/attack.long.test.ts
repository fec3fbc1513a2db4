import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { ATTACKS } from '../../tools/attack/attacks.js'
import { spawnNode } from '../support/cairn.js'
import { SKIP_SMALL_DISK } from '../support/smallDisk.js'
import { temporaryDirectory } from '../support/temporary.js'
import { THOROUGH } from '../support/thorough.js'

const MAIN = fileURLToPath(new URL('../../tools/attack/main.js', import.meta.url))

/** One attack on a server with its defaults: small and short, the same for the same seed. */
async function attack(name: string, json: string) {
  const args = ['--only', name, '--seconds', '2', '--scale', '0.1', '--lenient', '--json', json]
  const { code, stdout, stderr } = await spawnNode([MAIN, ...args]).ended
  assert.equal(code, 0, stdout + stderr)
  return JSON.parse(readFileSync(json, 'utf8')) as { attack: string; bystander: { blockNumber: { asked: number } } }[]
}

/** Each fifth one when every minute counts. */
const CHOSEN = ATTACKS.filter((_, at) => THOROUGH || at % 5 === 0)

for (const { name, what, needsSmallDisk } of CHOSEN) {
  const skip = needsSmallDisk === true && SKIP_SMALL_DISK
  test(`a server survives ${what}, and stops while the attack continues`, { skip }, async (t) => {
    const [report] = await attack(name, join(temporaryDirectory(t), 'report.json'))
    assert.equal(report.attack, name)
    assert.ok(report.bystander.blockNumber.asked > 50, 'the bystander kept asking')
  })
}

import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { before, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { ATTACKS } from '../../tools/attack/attacks.js'
import { spawnNode } from '../support/cairn.js'
import { endOfFile } from '../support/endings.js'
import { SKIP_SMALL_DISK } from '../support/smallDisk.js'
import { temporaryDirectory } from '../support/temporary.js'
import { THOROUGH } from '../support/thorough.js'

const endOfTests = endOfFile()
const MAIN = fileURLToPath(new URL('../../tools/attack/main.js', import.meta.url))

/** Each fifth one when every minute counts. */
const CHOSEN = ATTACKS.filter((_, at) => THOROUGH || at % 5 === 0)

interface Report {
  attack: string
  faults: string[]
  bystander: { blockNumber: { asked: number } }
}

let reports: Report[]

/** Each attack on a server of its own with its defaults: small and short, the same for the same seed. */
before(async () => {
  const json = join(temporaryDirectory(endOfTests), 'report.json')
  const names = CHOSEN.map(({ name }) => name).join(',')
  const args = ['--only', names, '--seconds', THOROUGH ? '2' : '1.5', '--scale', '0.1', '--lenient', '--json', json]
  const { code, stdout, stderr } = await spawnNode([MAIN, ...args]).ended
  assert.ok(existsSync(json), stdout + stderr)
  reports = JSON.parse(readFileSync(json, 'utf8')) as Report[]
  assert.equal(code, reports.some(({ faults }) => faults.length > 0) ? 1 : 0, stdout + stderr)
})

for (const { name, what, needsSmallDisk } of CHOSEN) {
  const skip = needsSmallDisk === true && SKIP_SMALL_DISK
  test(`a server survives ${what}, and stops while the attack continues`, { skip }, () => {
    const { faults, bystander } = reports.find(({ attack }) => attack === name) ?? assert.fail('no report')
    assert.deepEqual(faults, [])
    assert.ok(bystander.blockNumber.asked > 50, 'the bystander kept asking')
  })
}

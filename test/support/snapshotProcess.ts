import { openObjectStore } from '../../src/lib/objects/openObjectStore.js'
import { restoreFrom, snapshotOf } from './snapshots.js'

/* `snapshotProcess create|restore DATADIR PLACE`: a snapshot with small parts in a process that can be killed. It
 * writes a line for each part. */

const [action, datadir, place] = process.argv.slice(2)
const store = await openObjectStore(place, {}, process.env)
const onProgress = (step: string, done: number) => void process.stdout.write(`${step} ${done}\n`)
if (action === 'create') await snapshotOf({ datadir, store, onProgress })
else await restoreFrom({ datadir, store, onProgress })
process.stdout.write('done\n')

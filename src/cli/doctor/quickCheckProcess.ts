import { openAnySchema } from '../../store/open.js'

/* Process that runs `PRAGMA quick_check`: SQLite cannot be interrupted from JavaScript, and the check of a large
 * database takes hours, so `cairn doctor` kills the process after some seconds. Its argument is the data directory. */

const db = openAnySchema(process.argv[2])
const [problem] = db.pragma('quick_check(1)') as { quick_check: string }[]
process.send!(problem.quick_check, () => process.exit(0))

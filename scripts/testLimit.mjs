// Loaded before each test file (`--import`): ends a file that runs longer than LIMIT_MS and names what keeps it open.
// `--test-timeout` bounds a test, but since Node 24 not a file whose tests have passed and whose sockets or timers are left.
import { isMainThread } from 'node:worker_threads'

const LIMIT_MS = Number(process.env.TEST_FILE_LIMIT_MS ?? 480_000)

if (isMainThread && process.env.NODE_TEST_CONTEXT?.startsWith('child'))
  setTimeout(() => {
    const open = process.getActiveResourcesInfo().join(', ')
    console.error(`${process.argv[1]}: ended after ${LIMIT_MS / 1000} s; still open: ${open}`)
    process.exit(1)
  }, LIMIT_MS).unref()

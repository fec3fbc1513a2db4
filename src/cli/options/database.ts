import { COMMANDS, type Command, type Option } from './option.js'
import { text } from './rows.js'

const WITHOUT_DATABASE: readonly Command[] = ['record', 'version', 'help']

/** Options under the heading "Database". */
export const databaseOptions = {
  datadir: text(
    'datadir',
    'DIR',
    './data',
    COMMANDS.filter((command) => !WITHOUT_DATABASE.includes(command)),
    'Directory of the database.',
  ),
} as const satisfies { [key: string]: Option<unknown> }

import { Problem } from '../../basics/errors.js'
import type { Engine } from './contract/engine.js'
import { mysql } from './mysql/engine.js'
import { postgres } from './postgres/engine.js'
import { driverOf } from '../contract/engine-names.js'

/** The engine of a connection. @throws Problem wrong_arguments for one that nothing here talks to */
export const engineOf = (name: string): Engine => {
  const driver = driverOf(name)
  switch (driver) {
    case 'postgres':
      return postgres
    case 'mysql':
      return mysql
    default:
      throw new Problem('wrong_arguments', 'Wrong arguments', `This service does not talk to databases of the engine ${name}`)
  }
}

// The properties that jest-junit writes for a case: those that it does not report otherwise.
module.exports = ({status}) => (status === 'todo' ? {'testlore.status': status} : {});

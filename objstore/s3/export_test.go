package s3

// Forbidden says what an address is that no store has.
var Forbidden = forbidden

// AccessKey is the access key that a store would sign with now.
func AccessKey(s *Store) (string, error) {
	value, err := s.client.GetCreds()
	return value.AccessKeyID, err
}

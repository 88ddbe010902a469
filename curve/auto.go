package curve

func (c Config) choose() Method { return Denoise }
